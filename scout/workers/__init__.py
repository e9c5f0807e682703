"""Workers: processes on any number of machines that do the jobs of the queue."""
