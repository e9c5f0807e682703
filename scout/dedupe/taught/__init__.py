"""`scout dedupe --decide taught`: labels, models, explanations, and charts."""
