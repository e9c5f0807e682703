"""Causes that the imports recorded: rejected rows of the feed, and offers that it no longer has."""
