"""The demo shop's website: a function from requests to responses."""
