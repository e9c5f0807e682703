"""Exact joins by edit distance (Pass-Join segments)."""
