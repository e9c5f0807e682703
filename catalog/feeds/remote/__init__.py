"""Readers of remote sources: a paged REST endpoint and an SQL query, over safe connections."""
