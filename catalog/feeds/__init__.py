"""Feeds: the offers that the catalog lists, from files, a paged REST endpoint or an SQL query, as
`KnownOffer` rows.

A reader per format yields rows; `columns` assigns columns to fields; `offers` turns a row into an
offer; `importing` replaces a shop's known offers by those of a feed. Nothing is dropped silently:
an unreadable row becomes a `BadRow`.
"""
