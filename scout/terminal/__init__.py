"""Terminal output: tables, progress bars, logs."""
