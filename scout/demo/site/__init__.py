"""The demo shop's website."""
