"""Template matching: decide whether a page is an offer page."""
