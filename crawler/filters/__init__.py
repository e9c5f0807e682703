"""Filter links before they enter the frontier: traps, near-duplicates, dead links."""
