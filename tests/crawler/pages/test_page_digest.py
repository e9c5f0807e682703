"""Digests of fetched pages."""

from crawler.pages.link_extraction import MAX_LINKS
from crawler.pages.page_digest import TOO_MANY_LINKS, PageDigester
from crawler.urls.site import Site


def test_links_left_out_are_counted_once_for_their_page() -> None:
    """A page whose links are too many to visit says so; one with as many as allowed does not."""
    digester = PageDigester(Site("https://a.example/"))
    for number, reasons in ((MAX_LINKS, ()), (MAX_LINKS + 1, ((PAGE, TOO_MANY_LINKS),))):
        html = "".join(f"<a href=/{link}>" for link in range(number)) + "<a href=/0>"
        digest = digester.digest(html.encode(), "text/html", PAGE)
        assert (len(digest.links), digest.refused) == (MAX_LINKS, reasons)


PAGE = "https://a.example/all"
