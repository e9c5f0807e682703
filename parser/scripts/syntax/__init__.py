"""Lenient readers for JSON and JavaScript literals."""
