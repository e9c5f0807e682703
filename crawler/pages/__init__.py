"""Read a fetched page: links, fingerprint, offer signals, soft 404."""
