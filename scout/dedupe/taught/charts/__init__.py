"""Charts of a taught run: one HTML page without scripts, which opens without a network."""
