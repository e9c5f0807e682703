"""Template matching: is a page an offer page, and of which template?"""
