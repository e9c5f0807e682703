"""Links in the forms that merchants send: with tracking, through redirectors, and malformed.

The formats are those in public use (see url_cleaner); ids and hosts are made up where the format
does not fix them.
"""

from urllib.parse import quote

FORMS = {
    "plain": "{url}",
    "campaign": "{url_and}utm_source=portal&utm_medium=cpc&utm_campaign=feed",
    "click": "{url_and}gclid=Cj0K{ref}EALw_wcB&utm_source=shopping&utm_term={ref}",
    "awin": "https://www.awin1.com/cread.php?awinmid=11842&awinaffid=45510&clickref=feed&ued={tracked_once}",
    "redir": "https://track.example/redir?c={ref}&redir={twice}",
    "portal": "{url}?partner=portal?pid=96",
    "out": "{root}/out?to={once}&from=feed",
    "short": "https://kurz.example/{id}",
}
"""Patterns by name.

`once` and `twice` are the URL percent-encoded so many times; `url_and` takes more parameters.
"""


def merchant_link(form: str, base: str, path: str, ref: str) -> str:
    """Make the link to `path` below `base` in a form, one of FORMS; `ref` is the row's id.

    >>> merchant_link("campaign", "http://shop.example/", "/en/products/a?variant=2", "X-1")
    'http://shop.example/en/products/a?variant=2&utm_source=portal&utm_medium=cpc&utm_campaign=feed'
    >>> merchant_link("redir", "http://shop.example/", "/a", "X-1")
    'https://track.example/redir?c=X-1&redir=http%253A%252F%252Fshop.example%252Fa'
    """
    root = base.rstrip("/")
    url = root + path
    url_and = f"{url}{'&' if '?' in url else '?'}"
    return FORMS[form].format(
        root=root,
        url=url,
        url_and=url_and,
        once=quote(url, safe=""),
        tracked_once=quote(f"{url_and}utm_source=awin", safe=""),
        twice=quote(quote(url, safe=""), safe=""),
        ref=quote(ref, safe=""),
        # A short link reveals neither the shop nor the offer: only a number derived from the id.
        id=f"{sum(ref.encode()) * 7919 + len(ref):x}",
    )
