"""Probability calibration and tree models without pickle."""
