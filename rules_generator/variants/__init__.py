"""Learn rules for product variants that share a page."""
