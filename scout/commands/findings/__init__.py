"""Commands on findings: offers, review, decide."""
