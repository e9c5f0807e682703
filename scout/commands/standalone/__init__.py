"""Commands that work without a stored shop: url, dedupe, evaluate."""
