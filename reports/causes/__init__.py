"""Probable causes of missing offers."""
