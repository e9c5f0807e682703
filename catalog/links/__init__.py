"""Clean a shop's links with its own tracking parameters and the configured lists."""
