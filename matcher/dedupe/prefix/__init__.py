"""Exact joins by the multi-level prefix filter."""
