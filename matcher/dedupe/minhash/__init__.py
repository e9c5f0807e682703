"""MinHash signatures and locality-sensitive hashing."""
