"""The database and the page store: engine, frontier table, page bodies, migrations."""
