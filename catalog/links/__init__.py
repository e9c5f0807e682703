"""Cleaning of a shop's links with its own tracking parameters and the configured filter lists."""
