"""Classify URLs before they are fetched: shapes, shop functions, session ids, canonical rules."""
