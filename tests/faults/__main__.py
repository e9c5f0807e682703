"""Run the command line of the fault runs (`tests.faults.command_line`) in its own namespaces."""

import signal
import sys

if __name__ == "__main__":
    from tests.faults.disks import enter_namespaces

    enter_namespaces()
    from tests.faults.command_line import main

    # The first process of a namespace ignores signals for which it has no handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
