"""Register, list and remove shops."""
