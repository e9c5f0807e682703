"""XML feeds, read item by item so that one broken item never costs the rest."""
