"""Index of a catalog too large for memory: candidates and statistics of its offers, in the store.

The index is made by the first match (`build`), follows the imports (`update`), and finds for the
offers of a shop those known ones that the matcher would pair them with (`retrieval`). Everything
that a match takes from the catalog as a whole, such as the rarity of words, is stored with it
(`statistics`). It consists of arrays in the table `known_index_part`, the same on SQLite and
PostgreSQL.
"""
