"""Prices: amounts and currencies in any notation, and the choice among several in one text."""
