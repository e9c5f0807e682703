"""Categories as trails: steps that stand in elements of their own, as breadcrumbs do.

No element's text is the whole path then. So the elements that say a known path's last step are looked for; and where
all elements of their kind below one above them make up the path, that is a way to read it. A trail may begin with the
shop's name and end with the offer's title: the first or the last element may have to be left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import key, normalise
from catalog.values.category import SEPARATOR
from parser.document import LONGEST_STEP, Document, text_of
from parser.selector import TextAt
from rules_generator.anchors import anchors_of, tag_of
from rules_generator.candidates import rooted
from rules_generator.lookup import Lookup

STEPS = "a, li, span, dd, td, p, b, strong, div"
PARTS = ("", ":not(:last-child)", ":not(:first-child)", ":not(:first-child):not(:last-child)")
FEWEST, MOST, MOST_ABOVE = 2, 8, 4
MOST_PAGES, MOST_LOOKED_AT, MOST_SAID, LONGEST_TRAIL = 8, 3_000, 8, 600


def trails(known: Sequence[Sequence[str]], pages: Sequence[Lookup]) -> list[TextAt]:
    """Selectors of elements that make up the known category together, on several pages; the commonest first."""
    pairs = ((path, page) for paths, page in zip(known, pages, strict=True) for path in paths[:1] if SEPARATOR in path)
    counts: Counter[str] = Counter()
    for path, page in islice(pairs, MOST_PAGES):
        counts.update(dict.fromkeys(_trails_on(page.document, path), 1))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], len(pair[0])))
    return [TextAt(css=css, join=True) for css, count in ranked[:MOST] if count >= FEWEST]


def _trails_on(document: Document, path: str) -> Iterator[str]:
    steps = [key(Attribute.CATEGORY, step) for step in path.split(SEPARATOR)]
    rows = dict.fromkeys(row for node in _saying(document, steps[-1]) for row in _rows_of(node, steps))
    for row in rows:
        for part in PARTS:
            found = normalise(Attribute.CATEGORY, document.joined(row + part) or "")
            if found is not None and key(Attribute.CATEGORY, found) == key(Attribute.CATEGORY, path):
                yield row + part


def _saying(document: Document, step: str) -> Iterator[LexborNode]:
    """Elements that say nothing but that step."""
    nodes = (node for node in document.all(STEPS)[:MOST_LOOKED_AT] if node.first_child is not None)
    return islice((node for node in nodes if (text_of(node, LONGEST_STEP) or "").casefold() == step), MOST_SAID)


def _rows_of(node: LexborNode, steps: Sequence[str]) -> Iterator[str]:
    """The element's like below those above it that say all of the steps."""
    marks = [tag_of(node), *anchors_of(node)[:1]]
    above = node.parent
    for _ in range(MOST_ABOVE):
        if above is None or above.tag in ("html", "body", "-undef", None):
            return
        said = (text_of(above, LONGEST_TRAIL) or "").casefold()
        if all(step in said for step in steps):
            yield from (f"{anchor} {mark}" for anchor in [*anchors_of(above)[:2], *rooted(above)] for mark in marks)
        above = above.parent
