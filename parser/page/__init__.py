"""A parsed page: its elements, texts, labels and data."""
