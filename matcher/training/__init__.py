"""Train the pair classifier: synthetic pairs and reviewer feedback."""
