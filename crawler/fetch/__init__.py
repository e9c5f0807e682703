"""Fetch pages and handle responses: status, retries, circuit breaker, browser."""
