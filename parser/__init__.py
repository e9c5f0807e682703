"""Read: a page and a set of rules give offers, with the votes that led to them."""
