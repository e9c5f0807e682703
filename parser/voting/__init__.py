"""Run rules as votes and choose the winning value."""
