"""Unwrap redirect links, or follow opaque ones on request."""
