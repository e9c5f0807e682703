"""URLs as values: the parsed URL, its query, registrable domains, public IP addresses."""
