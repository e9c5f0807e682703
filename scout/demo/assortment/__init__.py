"""The demo shop's assortment: offers, the catalog's feed, and the truth about missing offers."""
