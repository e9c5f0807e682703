"""Crawl from saved pages and WARC files, and write WARC files."""
