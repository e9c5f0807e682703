"""The schedule of nightly runs."""
