"""Induce a shop's rules from training examples (wrapper induction)."""
