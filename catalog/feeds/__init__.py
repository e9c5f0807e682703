"""Feeds: the offers that the catalog lists, from files, a paged REST endpoint or a SQL query, as `KnownOffer` rows.

A reader per format gives rows; `columns` says which column is which field; `offers` makes an offer of a row;
`importing` replaces a shop's known offers by a feed's. Nothing is dropped silently: what cannot be read is a `BadRow`.
"""
