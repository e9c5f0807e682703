"""Evaluate matching on labelled data sets."""
