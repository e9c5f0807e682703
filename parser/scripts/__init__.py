"""Data in script elements: blocks, lookup by name, framework states."""
