"""Pages of one offer in different languages or markets: addresses, and groups of such pages."""
