"""Inspect pages and rules; record review decisions."""
