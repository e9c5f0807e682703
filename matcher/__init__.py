"""Pair: which offers of the shop the catalog lists, lacks, or may list."""
