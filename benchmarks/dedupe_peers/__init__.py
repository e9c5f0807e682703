"""The sets and the peers of `benchmarks.dedupe`."""
