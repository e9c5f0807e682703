"""Read a run's findings and count them: coverage, price bands, trend."""
