"""Web pages and JSON API of `scout serve`: a read-only view of the store."""
