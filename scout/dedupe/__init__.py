"""Find near-duplicates in a user's file."""
