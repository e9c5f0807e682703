"""Near-duplicates by embeddings."""
