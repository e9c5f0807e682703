"""Extraction rules as values: selectors, trims, rule sets."""
