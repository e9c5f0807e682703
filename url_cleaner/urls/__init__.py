"""Parsed URLs, query strings, registrable domains, public addresses."""
