"""Generate candidate selectors from located values."""
