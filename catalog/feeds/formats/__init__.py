"""Readers of feed files, one per format: CSV, JSON Lines, Parquet and XML."""
