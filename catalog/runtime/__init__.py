"""Runtime of a process: settings, progress reporting, worker processes."""
