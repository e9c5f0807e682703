"""Comparison features of candidate pairs."""
