"""Logs and traces of a process: the ids that log lines carry, spans, and how processes inherit both."""
