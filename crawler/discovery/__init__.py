"""Find pages to crawl: seed URLs and sitemaps."""
