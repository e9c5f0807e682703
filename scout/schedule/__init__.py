"""The schedule: when shops are run, and the scheduler of `scout serve`."""
