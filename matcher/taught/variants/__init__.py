"""Variants: records that look alike and are different things, such as two volumes of one work."""
