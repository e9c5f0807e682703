"""Pages without some of their structure, to see what rules are worth on shops that give less.

`full` is the page as crawled; `nosd` lacks structured data (JSON-LD, microdata and RDFa attributes,
OpenGraph, product and twitter meta, oembed links); `html` lacks every script as well.
"""

from typing import Literal

from catalog.html import open_html

View = Literal["full", "nosd", "html"]
MARKUP_ATTRIBUTES = (
    "itemprop",
    "itemscope",
    "itemtype",
    "itemid",
    "itemref",
    "typeof",
    "property",
    "vocab",
    "resource",
    "prefix",
)
STRUCTURED_DATA = ", ".join(
    [
        'script[type*="ld+json"]',
        'meta[property^="og:"], meta[property^="product:"], meta[property^="twitter:"]',
        'meta[name^="og:"], meta[name^="product:"], meta[name^="twitter:"]',
        'link[type*="oembed"]',
    ]
)


def ablate_page(page: str, view: View) -> str:
    """Return the page in that view.

    >>> head = '<meta property="og:title" content="x"><p itemprop="name">x</p>'
    >>> "og:title" in ablate_page(head, "nosd")
    False
    >>> ablate_page("<template><script>{}</script><p>x</template>", "html").count("script")
    0
    """
    if view == "full":
        return page
    tree = open_html(page)
    removed = STRUCTURED_DATA if view == "nosd" else f"{STRUCTURED_DATA}, script"
    nodes = tree.css(removed)
    for fragment in tree.template_fragments():
        nodes += fragment.css(removed)
    for node in nodes:
        node.decompose()
    for node in tree.css(", ".join(f"[{name}]" for name in MARKUP_ATTRIBUTES)):
        for name in MARKUP_ATTRIBUTES:
            if name in node.attributes:
                del node.attrs[name]
    return tree.html or ""
