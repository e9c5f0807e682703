"""Evaluate learnt rules on labelled shops."""
