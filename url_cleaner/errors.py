"""Errors of url_cleaner."""


class BadUrl(ValueError):
    """The text is not an http(s) URL; the message says why."""
