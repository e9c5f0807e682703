"""Score candidates by their agreement with the known values."""
