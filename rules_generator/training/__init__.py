"""Training examples: known offers joined with their pages."""
