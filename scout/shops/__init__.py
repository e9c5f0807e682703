"""Shops: check and store their settings, and delete their data."""
