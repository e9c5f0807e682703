"""`python -m scout`: the same as the command `scout`, for a run in a process of its own."""

import sys

from scout.cli import main

if __name__ == "__main__":
    sys.exit(main())
