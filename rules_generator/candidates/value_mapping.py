"""Brands and categories for which a shop has other words than its catalog.

The way back to `Servers` stands on all pages whose category is `Decanters`; titles that begin with `Badger` are of the
brand `Badger Balms`. Such a text is no known value, but where it stands on several examples that all have the same, it
means that value. A value that many examples have proves little: a text counts only where chance would seldom have put
all of its pages among those of one value.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb

from catalog.models import Attribute
from catalog.values import key, normalise
from catalog.values.category import is_home
from parser.rules.selector import AnySelector, TextAt
from parser.rules.trim import Trim, spelled
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import HEADINGS
from rules_generator.training.example_pages import Opened
from rules_generator.training.examples import Example

FEWEST = 2
ENOUGH = 3
CHANCE = 0.07
MOST_CLASHING = 0.2
LONGEST_SAID = 60
FIRST_WORD = Trim(right=" ", inside=True)
PLACED = ":nth-"

Way = tuple[AnySelector, Trim]


def meant(attribute: Attribute, ways: Sequence[Way], opened: Opened) -> Iterator[Candidate]:
    """Places that say the known value itself on some examples, with what they mean on others.

    For brands, the first word of headings too.
    """
    known = tuple(
        dict.fromkeys(
            one.known[attribute][0] for one in opened.examples if one.known.get(attribute)
        )
    )
    for selector, trim in ways:
        said = _said(selector, trim, opened)
        if PLACED not in str(selector) and _says_it(attribute, said, opened.examples):
            yield from _meaning(
                attribute, selector, trim.model_copy(update={"words": known}), said, opened
            )
            if len(known) > 1 and not _is_counted(trim):
                means = _only(known, attribute, said, opened)
                yield Candidate(attribute, selector, trim.model_copy(update={"means": means}))
    for css in HEADINGS if attribute is Attribute.BRAND else ():
        first = TextAt(css=css)
        yield from _meaning(attribute, first, FIRST_WORD, _said(first, FIRST_WORD, opened), opened)


def _said(selector: AnySelector, trim: Trim, opened: Opened) -> list[str | None]:
    return [trim.apply(raw) if raw else None for raw in opened.raw(selector)]


def _meaning(
    attribute: Attribute,
    selector: AnySelector,
    trim: Trim,
    said: Sequence[str | None],
    opened: Opened,
) -> Iterator[Candidate]:
    if means := meanings(attribute, said, opened.examples):
        yield Candidate(attribute, selector, trim.model_copy(update={"means": means}))


def _only(
    known: Sequence[str], attribute: Attribute, said: Sequence[str | None], opened: Opened
) -> tuple[tuple[str, str], ...]:
    """The known values by themselves, besides what else is meant by other texts: of any further text nothing is."""
    pairs = [(spelled(value), value) for value in known if spelled(value)]
    return tuple(dict([*meanings(attribute, said, opened.examples), *pairs]).items())


def _is_counted(trim: Trim) -> bool:
    """Whether it takes off a number of characters, after which anything may stand."""
    return any(isinstance(cut, int) and cut for cut in (trim.left, trim.right))


def _says_it(attribute: Attribute, said: Sequence[str | None], examples: Sequence[Example]) -> bool:
    pairs = ((text, one.known.get(attribute, ())) for text, one in zip(said, examples, strict=True))
    return (
        sum(1 for text, known in pairs if text and spelled(text) in map(spelled, known)) >= FEWEST
    )


def meanings(
    attribute: Attribute, said: Sequence[str | None], examples: Sequence[Example]
) -> tuple[tuple[str, str], ...]:
    """What each text means that stands on several examples; nothing where many of them mean now this, now that."""
    known = [next(iter(one.known.get(attribute, ())), "") for one in examples]
    counts = Counter(key(attribute, value) for value in known if value)
    told, sure, clashing = [], 0, 0
    for text, values in _beside(said, known).items():
        groups = {key(attribute, value) if value else "" for value in values}
        if len(groups) > 1:
            clashing += len(values)
        elif (
            comb(counts[groups.pop()], len(values)) <= CHANCE * comb(len(known), len(values))
            and values[0]
        ):
            if len(values) >= (FEWEST if _are_akin(text, values[0]) else ENOUGH):
                told.append((text, values[0]))
            sure += len(values)
    return tuple(told) if clashing <= MOST_CLASHING * sure else ()


def _are_akin(text: str, value: str) -> bool:
    """Whether both have a word in common, but for its last letter.

    >>> _are_akin("badger", "Badger Balms"), _are_akin("brewer", "Manual Brewers"), _are_akin("accessories", "Kettles")
    (True, True, False)
    """
    one, other = (
        {word.removesuffix("s") for word in spelled(said).split()} for said in (text, value)
    )
    return not one.isdisjoint(other)


def _is_step(text: str) -> bool:
    """Whether a text may be a category, and not only the way home."""
    found = normalise(Attribute.CATEGORY, text)
    return found is not None and not is_home(found)


def _beside(said: Sequence[str | None], known: Sequence[str]) -> dict[str, list[str]]:
    """The known values of the examples on which each text stands, of texts that stand on several."""
    beside: dict[str, list[str]] = {}
    for text, value in zip(said, known, strict=True):
        if text and len(text) <= LONGEST_SAID and _is_step(text) and spelled(text):
            beside.setdefault(spelled(text), []).append(value)
    return {text: values for text, values in beside.items() if len(values) >= FEWEST}
