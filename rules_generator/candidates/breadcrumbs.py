"""Categories as trails: steps that stand in elements of their own, as breadcrumbs do, or in a list of data.

No element's text is the whole path then. So the elements that say a known path's last step are looked for; and where
all elements of their kind below one above them make up the path, that is a way to read it. So are the lists of data
whose values make it up. A trail may begin with the shop's name and end with the offer's title: the first or the last
element may have to be left out. Where the catalog knows one step only, it is told by its place from a list's end.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import key, normalise
from catalog.values.category import SEPARATOR
from parser.page.document import LONGEST_STEP, MOST_STEPS, Document, scalar
from parser.page.texts import text_of
from parser.rules.selector import JsonAt, TextAt
from parser.scripts.syntax.jsonpath import child, compile_path
from rules_generator.candidates.selectors import rooted
from rules_generator.locate.element_selectors import anchors_of, tag_of
from rules_generator.locate.known_values import flatten, generic
from rules_generator.training.page_cache import Lookup

STEPS = "a, li, span, dd, td, p, b, strong, div"
PARTS = ("", ":not(:last-child)", ":not(:first-child)", ":not(:first-child):not(:last-child)")
FEWEST = 2
MOST = 8
MOST_ABOVE = 4
MOST_PAGES = 8
MOST_LOOKED_AT = 3_000
MOST_SAID = 8
LONGEST_TRAIL = 600
SLICES = (slice(None), slice(None, -1), slice(1, None), slice(1, -1))
FROM_END = (-1, -2, -3)
MOST_LISTS = 200
MOST_LEVELS = 8
MOST_FIELDS = 6


def trails(known: Sequence[Sequence[str]], pages: Sequence[Lookup]) -> list[TextAt | JsonAt]:
    """Selectors of what makes up the known category together, on several pages; the commonest first."""
    pairs = (
        (path, page.document)
        for paths, page in zip(known, pages, strict=True)
        for path in paths[:1]
    )
    counts: Counter[TextAt | JsonAt] = Counter()
    for path, document in islice(pairs, MOST_PAGES):
        of_elements = _trails_on(document, path) if SEPARATOR in path else ()
        counts.update(
            {*(TextAt(css=css, join=True) for css in of_elements), *_trails_in(document, path)}
        )
    ranked = sorted(counts, key=lambda one: (-counts[one], len(str(one)), str(one)))
    usual = [one for one in ranked if counts[one] >= FEWEST]
    return [
        one
        for kind in (TextAt, JsonAt)
        for one in islice((one for one in usual if type(one) is kind), MOST)
    ]


def _trails_in(document: Document, path: str) -> Iterator[JsonAt]:
    """What makes up a path in the data, or says its one step near the end of a list; of blocks alike the first."""
    wanted = _key(path)
    parts: Sequence[slice | int] = SLICES if SEPARATOR in path else FROM_END
    for block in document.blocks:
        for way in _ways(block.data, parts, wanted):
            selector = JsonAt(css=block.css, block=block.name, path=way, join=parts is SLICES)
            if _key(document.find(selector)) == wanted:
                yield selector


def _ways(data: Any, parts: Sequence[slice | int], wanted: str | None) -> Iterator[str]:
    """The paths to those parts of lists that say what is wanted."""
    for at, steps in islice(_lists(data), MOST_LISTS):
        for field, texts in _fields(steps):
            yield from (
                f"{child(at, part)}{field}" for part in parts if _said(texts, part) == wanted
            )


def _fields(steps: Sequence[Any]) -> Iterator[tuple[str, list[str]]]:
    """What the elements of a list say by each field of the first, and where that is."""
    for field, _ in islice(flatten(steps[0], ""), MOST_FIELDS):
        values = compile_path(f"${field}")
        yield field, [scalar(next(iter(values(step)), None)) or "" for step in steps]


def _said(texts: Sequence[str], part: slice | int) -> str | None:
    if isinstance(part, slice):
        return _key(SEPARATOR.join(filter(None, texts[part])))
    return _key(texts[part]) if -part <= len(texts) else None


def _key(category: str | None) -> str | None:
    """What makes categories equal."""
    found = normalise(Attribute.CATEGORY, category or "")
    return None if found is None else key(Attribute.CATEGORY, found)


def _lists(
    data: Any, path: str = "$", levels: int = MOST_LEVELS
) -> Iterator[tuple[str, list[Any]]]:
    """The lists in a block that may be a trail, with their paths."""
    if (
        isinstance(data, list)
        and FEWEST <= len(data) <= MOST_STEPS
        and not isinstance(data[0], list)
    ):
        yield path, data
    elif isinstance(data, dict) and levels:
        for name, value in data.items():
            yield from _lists(value, child(path, generic(str(name))), levels - 1)


def _trails_on(document: Document, path: str) -> Iterator[str]:
    wanted, steps = _key(path), [key(Attribute.CATEGORY, step) for step in path.split(SEPARATOR)]
    rows = dict.fromkeys(
        row for node in _saying(document, steps[-1]) for row in _rows_of(node, steps)
    )
    for row in rows:
        for part in PARTS:
            if _key(document.joined(row + part)) == wanted:
                yield row + part


def _saying(document: Document, step: str) -> Iterator[LexborNode]:
    """Elements that say nothing but that step."""
    nodes = (node for node in document.all(STEPS)[:MOST_LOOKED_AT] if node.first_child is not None)
    return islice(
        (node for node in nodes if (text_of(node, LONGEST_STEP) or "").casefold() == step),
        MOST_SAID,
    )


def _rows_of(node: LexborNode, steps: Sequence[str]) -> Iterator[str]:
    """The element's like below those above it that say all of the steps."""
    marks = [tag_of(node), *anchors_of(node)[:1]]
    above = node.parent
    for _ in range(MOST_ABOVE):
        if above is None or above.tag in ("html", "body", "-undef", None):
            return
        said = (text_of(above, LONGEST_TRAIL) or "").casefold()
        if all(step in said for step in steps):
            yield from (
                f"{anchor} {mark}"
                for anchor in [*anchors_of(above)[:2], *rooted(above)]
                for mark in marks
            )
        above = above.parent
