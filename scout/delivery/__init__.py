"""Digests of shops' open problems, sent by mail or to a webhook, on a schedule."""
