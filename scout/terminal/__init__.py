"""Terminal output: tables, progress bars, logs, and the printed result of a run."""
