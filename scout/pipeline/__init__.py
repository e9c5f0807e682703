"""Run a shop's stages in order, and many shops side by side."""
