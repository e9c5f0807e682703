"""Scout's application: command line, pipeline, schedule, web application and demo shop."""
