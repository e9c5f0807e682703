"""The ladder: near-duplicates in any set of records, the cheapest method first, each a rung with one interface."""
