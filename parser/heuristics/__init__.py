"""Read offers without learnt rules: structured data, markup and visible text."""
