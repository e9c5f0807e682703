"""Data in script elements: blocks, lookup, framework states."""
