"""Decide listed, missing or unsure, and explain the decision."""
