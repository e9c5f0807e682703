"""Known redirectors and tracking parameters: built-in, from lists, learnt from a shop."""
