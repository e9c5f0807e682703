"""Cluster pairs, merge clusters, and chain join methods."""
