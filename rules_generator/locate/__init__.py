"""Locate known values on a page."""
