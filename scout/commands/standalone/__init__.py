"""Commands that need no shop: url, dedupe, evaluate."""
