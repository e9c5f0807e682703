"""Maintenance of a store: removing what is no longer needed, backups, and restoring them."""
