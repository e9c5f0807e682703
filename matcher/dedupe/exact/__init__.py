"""Exact duplicates by fingerprints, in memory and on disk."""
