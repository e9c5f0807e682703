"""Run the command line of the fault runs (`tests.faults.command_line`) in its own namespaces."""

import sys

if __name__ == "__main__":
    from tests.faults.disks import enter_namespaces

    enter_namespaces()
    from tests.faults.command_line import main

    sys.exit(main())
