"""Decisions of reviewers: on offers, one by one or thousands at once, and on causes."""
