"""Targets of redirect links, read from the link itself."""
