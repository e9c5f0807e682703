"""atheris is installed by `make fuzz ENGINE=atheris` only, so its module is not imported for doctests."""

collect_ignore = ["guided.py"]
