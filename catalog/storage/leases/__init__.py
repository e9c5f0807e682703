"""Leases: who may run a shop or lead the timetable, on any number of machines."""
