"""The columns of a table: their kinds, and values parsed by kind."""
