"""Spark: find Java, start a session, and run Scout's own functions on its executors."""

# The master where none is given: all cores of this machine.
DEFAULT_MASTER = "local[*]"
