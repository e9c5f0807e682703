"""Shared parts of all join methods: records, text columns, similarity measures, edit distance."""
