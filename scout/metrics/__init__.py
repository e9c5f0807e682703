"""Metrics for Prometheus: figures of all shops, and the progress of a running run."""
