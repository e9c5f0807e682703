"""Inspection of pages, rules and review decisions for the command line and the web pages."""
