"""Blocking: candidate pairs by nearest neighbours in TF-IDF space."""
