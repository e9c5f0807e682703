"""The web pages and the JSON API of `scout serve`: what the store says, to be looked at and not to be changed."""
