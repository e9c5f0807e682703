"""From features to calibrated probabilities: with labels, with few, and with none."""
