"""Tell: the story of a run for the merchant and the catalog team."""
