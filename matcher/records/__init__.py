"""Records to compare: normalised text, units, product kinds, page de-duplication."""
