"""Rules as values: selectors, trims, rule sets."""
