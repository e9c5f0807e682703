"""Verdicts (listed, missing or unsure), and their explanation."""
