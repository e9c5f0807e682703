"""Storage: database, crawl frontier, page bodies, migrations."""
