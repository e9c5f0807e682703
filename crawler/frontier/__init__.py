"""The crawl frontier: dispatch, budget, politeness and revisit policy."""
