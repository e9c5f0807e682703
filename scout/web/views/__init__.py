"""Views of pages: lists of findings, details of one, runs that go on, charts, names of values."""
