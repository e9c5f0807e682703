"""`python -m scout`: the command `scout`, for runs in processes of their own."""

import sys

from scout.cli import main

if __name__ == "__main__":
    sys.exit(main())
