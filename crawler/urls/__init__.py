"""URL shapes, URL rules, session ids and canonical links: decide what a URL is before it is fetched."""
