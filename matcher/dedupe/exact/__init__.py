"""Exact duplicates by fingerprint, in memory and on disk."""
