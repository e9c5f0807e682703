"""The words and the store: offers, shops, pages, runs, normalised values, feeds, queue, settings, errors."""
