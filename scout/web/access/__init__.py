"""Access to the web application: accounts, passwords, sessions, API tokens, roles, audit log."""
