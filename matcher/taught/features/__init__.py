"""Comparison features of candidate pairs, derived from the kinds of the columns."""
