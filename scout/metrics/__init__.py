"""Figures for Prometheus: what the store says of all shops, and how a run under way stands."""
