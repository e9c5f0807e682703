"""Runs: the stages of one shop in order, and many shops in parallel."""
