"""The demo shop's offers, and the feed that lists most of them."""
