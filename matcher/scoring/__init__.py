"""Score candidate pairs and assign them one to one."""
