"""Fetch: a shop's pages into the page store, by a table that is the frontier."""
