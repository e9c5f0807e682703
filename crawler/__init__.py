"""Crawl a shop's website into the page store; the page table of the catalog is the crawl frontier.

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from crawler.config import CrawlConfig as CrawlConfig
    from crawler.crawl import CrawlResult as CrawlResult
    from crawler.crawl import crawl_shop as crawl_shop
    from crawler.frontier.budget import Window as Window
    from crawler.frontier.revisit import reset_for_revisit as reset_for_revisit
    from crawler.pages.link_extraction import PageLinks as PageLinks
    from crawler.pages.link_extraction import extract_links as extract_links
    from crawler.sources.warc_writer import WarcExport as WarcExport
    from crawler.sources.warc_writer import write_warc as write_warc
    from crawler.store.body_repair import repair_bodies as repair_bodies
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "config": ["CrawlConfig"],
            "crawl": ["CrawlResult", "crawl_shop"],
            "frontier.budget": ["Window"],
            "frontier.revisit": ["reset_for_revisit"],
            "pages.link_extraction": ["PageLinks", "extract_links"],
            "sources.warc_writer": ["WarcExport", "write_warc"],
            "store.body_repair": ["repair_bodies"],
        },
    )
