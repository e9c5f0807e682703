"""Digests of what needs a look, sent by mail or to a webhook, on a schedule."""
