"""Causes that groups of offers share: every group is counted, and the best explanations are kept."""
