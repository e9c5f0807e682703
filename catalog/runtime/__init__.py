"""Settings, progress reporting and worker processes."""
