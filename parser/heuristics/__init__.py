"""Read offers without learnt rules: structured data and visible text."""
