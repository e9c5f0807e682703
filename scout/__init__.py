"""The roof: the command line, the pipeline, the schedule, the web pages and the demo shop."""
