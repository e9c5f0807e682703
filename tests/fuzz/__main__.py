"""Run the fuzz targets: see `tests.fuzz.command_line`.

A started process runs this module as well, and must not load the packages under test before they
are instrumented.
"""

import sys

if __name__ == "__main__":
    from tests.fuzz.command_line import main

    sys.exit(main())
