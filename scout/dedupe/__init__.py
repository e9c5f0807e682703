"""Find near-duplicates in a user's files: `scout dedupe`."""
