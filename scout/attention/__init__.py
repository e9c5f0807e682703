"""Shops that need a look: assessed by their newest run and import, with the next step."""
