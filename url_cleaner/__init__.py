"""Offer links without redirects and tracking, so that no visit of Scout's is ever billed to a shop."""
