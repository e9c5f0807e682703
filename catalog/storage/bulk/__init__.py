"""Statements on many rows: batches of pages, and the copy of a whole store."""
