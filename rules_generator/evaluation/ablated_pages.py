"""Pages with some of their help taken away, to see what rules are worth on shops that give less.

`full` is the page as crawled; `nosd` lacks structured data (JSON-LD, microdata and RDFa attributes, OpenGraph, product
and twitter meta, oembed links); `html` lacks every script as well.
"""

from typing import Literal

from catalog.html import open_html

View = Literal["full", "nosd", "html"]
MARKUP = (
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
STRUCTURED = ", ".join(
    [
        'script[type*="ld+json"]',
        'meta[property^="og:"], meta[property^="product:"], meta[property^="twitter:"]',
        'meta[name^="og:"], meta[name^="product:"], meta[name^="twitter:"]',
        'link[type*="oembed"]',
    ]
)


def seen_as(page: str, view: View) -> str:
    """The page in that view.

    >>> "og:title" in seen_as('<meta property="og:title" content="x"><p itemprop="name">x</p>', "nosd")
    False
    >>> seen_as("<template><script>{}</script><p>x</template>", "html").count("script")
    0
    """
    if view == "full":
        return page
    tree = open_html(page)
    gone = STRUCTURED if view == "nosd" else f"{STRUCTURED}, script"
    in_templates = (node for part in tree.template_fragments() for node in part.css(gone))
    for node in (*tree.css(gone), *in_templates):
        node.decompose()
    for node in tree.css(", ".join(f"[{name}]" for name in MARKUP)):
        for name in MARKUP:
            if name in node.attributes:
                del node.attrs[name]
    return tree.html or ""
