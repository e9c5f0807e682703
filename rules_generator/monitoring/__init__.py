"""Monitor learnt rules: drift and yield."""
