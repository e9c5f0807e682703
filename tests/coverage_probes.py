"""Pytest plugin: SlipCover takes its probes out of the code more rarely in pytest-xdist's workers.

On Python 3.11 it takes out those of all lines seen, once a line was executed often. For that it goes
through the functions of all modules: a tenth of the tests' time with its default of 50 executions.
Its option `--threshold` does not reach the workers.
"""

from functools import partialmethod

from slipcover import Slipcover

# Executions of a line before the probes are taken out: a probe costs less than a microsecond.
EXECUTIONS = 500

Slipcover.__init__ = partialmethod(Slipcover.__init__, d_miss_threshold=EXECUTIONS)
