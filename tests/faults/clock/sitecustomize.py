"""Loaded by every Python process of a machine whose clock is shifted: keeps the clock preloaded.

Processes that read pages get no variable but harmless ones, so `LD_PRELOAD` does not reach them.
Those that begin with `PYTHON` do: this module starts such a process again with the library.
"""

import os
import sys

LIBRARY = os.environ.get("PYTHON_SHIFTED_CLOCK", "")
SHIFT_FILE = os.environ.get("PYTHON_SHIFTED_CLOCK_FILE", "")

if LIBRARY and os.environ.get("LD_PRELOAD") != LIBRARY:
    variables = {**os.environ, "LD_PRELOAD": LIBRARY, "SHIFTED_CLOCK_FILE": SHIFT_FILE}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], variables)
