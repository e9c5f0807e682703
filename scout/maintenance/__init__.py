"""Maintenance of a store: retention of runs and files, removal of shops, backup and restore."""
