"""Limits of processes: memory, processor time, and the reason why one ended."""
