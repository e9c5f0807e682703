"""Causes that groups of offers share: all groups are counted, the best are kept."""
