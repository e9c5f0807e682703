"""SimHash fingerprints and permuted tables."""
