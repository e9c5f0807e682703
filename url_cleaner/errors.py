"""What can go wrong with a link."""


class BadUrl(ValueError):
    """The text is not an http(s) URL; the message says why."""
