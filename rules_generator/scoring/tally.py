"""How well each candidate agrees with the known offers: by counting, on all examples at once.

A candidate is right, wrong or silent on each example; silence costs next to nothing (Hübscher 2018, 2.10). Its
agreement is the lower bound of Wilson's interval for right / (right + wrong), so three of three is worth less than
thirty of thirty. The score is that bound relative to the best candidate's: known offers may be stale, and where a third
of the prices is wrong even the perfect selector agrees on two thirds only. A value found where the catalog knows none
counts a little against a candidate: the catalog may lack it, or the shop may have put its own slogan where a
description should be.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import log2, sqrt

from selectolax.lexbor import LexborNode

from catalog.models import NUMBERS, Attribute
from catalog.values import key
from catalog.values.availability import is_bare
from parser.page.document import scalar
from parser.rules.selector import AnySelector, AttributeAt, JsonAt, is_of_one
from parser.rules.trim import Trim
from parser.scripts.syntax.jsonpath import compile_path
from parser.voting.votes import value_of
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.naming import is_heading, is_named, plausibility
from rules_generator.candidates.trimming import NO_CUT
from rules_generator.locate.known_values import NAME_ATTRIBUTES, SLUGGED
from rules_generator.scoring.spelling import as_catalog_spells, respelled
from rules_generator.training.example_pages import Opened
from rules_generator.training.examples import Example

SURENESS = 1.0
UNCALLED = 0.3
SILENT = 0.1
SILENT_ON_ALL = 0.3
BY_WAY = 0.8
BY_WAY_TO_LONG = 0.85
CUT_OFF = 0.85
LENGTH_OF_A_WORD = 20
ON_ALL = frozenset({Attribute.TITLE, Attribute.PRICE})
LARGEST_TIE = 0.02
OWN = frozenset({*NUMBERS, Attribute.IMAGE, Attribute.DESCRIPTION})
MOST_FILLERS = 5
FREE = "0.00"
FEW_LOOKED_AT = 5
ANY_KEY = ".*"
CROWDED = 0.05
MOST_CROWDED = 0.2
ADDRESS = re.compile(r"(?:https?:)?/")
APART = re.compile(r"[\W_]")
BARE_NUMBER = re.compile(r"\d+(?:\.(\d+))?", re.ASCII)
THOUSAND = 3
LOWERED = 0.2
LONG_ONES = frozenset({Attribute.DESCRIPTION, Attribute.IMAGE})


@dataclass(frozen=True)
class Tally:
    """What a candidate found on each example (None: nothing), and on which of them it was right.

    `right` is None where the catalog does not know the attribute of that example. `spare` is how many characters the
    raw texts hold beyond their values, on average: little where the selector points right at the value. `named` are the
    examples that are right as soon as the words that they alone have taught may speak for them, `unseen` those whose
    known value stands nowhere on the page, so that no candidate could be right. `nodes` are the elements it read on the
    first few examples, where it reads one, and `crowd` says how many its selector finds there, on average, or of how
    many values of data it takes the first. `respelled` says how far right values are from how the catalog spells them,
    and `is_cut_off` that the longest of them end there though the known ones go on.
    """

    candidate: Candidate
    values: tuple[str | None, ...]
    right: tuple[bool | None, ...]
    spare: float = 0.0
    named: int = 0
    unseen: Collection[int] = ()
    nodes: tuple[LexborNode | None, ...] = ()
    crowd: float = 1.0
    respelled: float = 0.0
    is_cut_off: bool = False

    @cached_property
    def hits(self) -> int:
        """Examples on which it found the known value."""
        return sum(1 for right in self.right if right)

    @cached_property
    def misses(self) -> int:
        """Examples on which it found another value."""
        return sum(
            1
            for value, right in zip(self.values, self.right, strict=True)
            if value is not None and right is False
        )

    @cached_property
    def uncalled(self) -> int:
        """Examples on which it found a value where the catalog knows none."""
        return sum(
            1
            for value, right in zip(self.values, self.right, strict=True)
            if value is not None and right is None
        )

    @property
    def is_never_wrong(self) -> bool:
        """Whether it found nothing but known values, and none where the catalog knows none."""
        return not self.misses and not self.uncalled

    @cached_property
    def silent(self) -> int:
        """Examples on which it found nothing though the catalog knows a value."""
        return sum(
            1
            for value, right in zip(self.values, self.right, strict=True)
            if value is None and right is False
        )

    @cached_property
    def keys(self) -> tuple[str | None, ...]:
        """The values by what makes them equal."""
        return tuple(
            None if value is None else key(self.candidate.attribute, value) for value in self.values
        )

    @property
    def right_values(self) -> int:
        """How many different values it was right on."""
        return len(
            {group for group, is_right in zip(self.keys, self.right, strict=True) if is_right}
        )

    @cached_property
    def share(self) -> float:
        """The share of known values among those of them on which it found a value."""
        return self.hits / (self.hits + self.misses) if self.hits else 0.0

    @cached_property
    def agreement(self) -> float:
        """The lower bound of its agreement with the known values."""
        silence = (SILENT_ON_ALL if self.candidate.attribute in ON_ALL else SILENT) * self.silent
        return lower_bound(self.hits, self.hits + self.misses + UNCALLED * self.uncalled + silence)

    @cached_property
    def agreement_where_it_speaks(self) -> float:
        """The same without regard to the examples on which it is silent."""
        return lower_bound(self.hits, self.hits + self.misses + UNCALLED * self.uncalled)


def lower_bound(right: float, total: float, z: float = SURENESS) -> float:
    """The lower end of Wilson's score interval for a share (Wilson 1927).

    >>> round(lower_bound(3, 3), 2), round(lower_bound(30, 30), 2)
    (0.75, 0.97)
    """
    if not total:
        return 0.0
    share = right / total
    spread = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return max(0.0, (share + z * z / (2 * total) - spread) / (1 + z * z / total))


def tally(candidate: Candidate, opened: Opened, places: Sequence[int] | None = None) -> Tally:
    """Run a candidate on all examples, or on those at these places."""
    at = range(len(opened.examples)) if places is None else places
    raws = opened.raw(candidate.selector, at)
    pairs = zip(at, raws, strict=True)
    cuts = [
        None if raw is None else _trim_at(candidate, opened, place).apply(raw)
        for place, raw in pairs
    ]
    candidate = _as_slug(_with_decimal(candidate, cuts), raws, cuts)
    rule = candidate.rule()
    bases = (opened.documents[place].base for place in at)
    values = [
        None if cut is None else value_of(rule, cut, base)
        for cut, base in zip(cuts, bases, strict=True)
    ]
    if candidate.attribute is Attribute.AVAILABILITY and not is_named(candidate):
        values = [
            None if is_bare(cut or "") else value for cut, value in zip(cuts, values, strict=True)
        ]
    examples = [opened.examples[place] for place in at]
    right = [
        opened.agrees(candidate.attribute, place, value)
        for place, value in zip(at, values, strict=True)
    ]
    candidate, values = as_catalog_spells(candidate, values, examples, opened.is_typeset)
    spare = [
        len(raw) - len(value) for raw, value in zip(raws, values, strict=True) if raw and value
    ]
    fillers = _fillers(candidate.attribute, values, right)
    values = [None if value in fillers else value for value in values]
    never = fillers + _scraps(candidate, values, right)
    if never:
        candidate = replace(candidate, never=never[:MOST_FILLERS])
    named = _named(candidate, raws, examples) if candidate.trim.words or candidate.trim.means else 0
    unseen = opened.unseen.get(candidate.attribute, ())
    loose = max(0.0, sum(spare) / len(spare)) if spare else 0.0
    nodes = _nodes(candidate.selector, opened, at)
    crowd = 1.0 if places is not None else _crowd(candidate, opened, nodes)
    apart = respelled(candidate.attribute, values, right, examples)
    is_cut_off = candidate.attribute is Attribute.DESCRIPTION and _is_cut_off(
        values, right, examples
    )
    return Tally(
        candidate,
        tuple(values),
        tuple(right),
        loose,
        named,
        unseen,
        nodes,
        crowd,
        apart,
        is_cut_off,
    )


def _crowd(candidate: Candidate, opened: Opened, nodes: Sequence[LexborNode | None]) -> float:
    selector = candidate.selector
    if isinstance(selector, JsonAt) and ANY_KEY in selector.path:
        counts = (
            _count_there(candidate, selector, opened, place)
            for place in range(len(opened.documents))
        )
    else:
        counts = (
            opened.pages[place].count(selector.css)
            for place, node in enumerate(nodes)
            if node is not None
        )
    found = list(islice(filter(None, counts), FEW_LOOKED_AT))
    return sum(found) / len(found) if found else 1.0


def _count_there(candidate: Candidate, selector: JsonAt, opened: Opened, place: int) -> int:
    """How many values stand on a page where a path leads that goes into any key; an offer's own count as one."""
    document, values, rule = opened.documents[place], compile_path(selector.path), candidate.rule()
    raws = (
        scalar(raw)
        for data in islice(document.data_of(selector), FEW_LOOKED_AT)
        for raw in values(data)
    )
    cuts = (candidate.trim.apply(raw) for raw in raws if raw is not None)
    found = {value_of(rule, cut, document.base) for cut in cuts if cut is not None} - {None}
    own = {value for value in found if opened.examples[place].agrees(candidate.attribute, value)}
    return len(found - own) + bool(own)


def _nodes(
    selector: AnySelector, opened: Opened, at: Iterable[int]
) -> tuple[LexborNode | None, ...]:
    if not is_of_one(selector):
        return ()
    return tuple(opened.pages[place].first(selector.css) for place in islice(at, FEW_LOOKED_AT))


def _with_decimal(candidate: Candidate, texts: Sequence[str | None]) -> Candidate:
    """Where a field holds bare numbers that have decimals behind a point, three of them are decimals, too.

    In what people read, `33.948` is a thousand wherever it stands.
    """
    if candidate.attribute is not Attribute.PRICE or candidate.form != "plain":
        return candidate
    numbers = [BARE_NUMBER.fullmatch(text) for text in texts if text is not None]
    shown = all(numbers) and any(
        number and number[1] and len(number[1]) != THOUSAND for number in numbers
    )
    return replace(candidate, form="point") if shown else candidate


def _as_slug(
    candidate: Candidate, raws: Sequence[str | None], texts: Sequence[str | None]
) -> Candidate:
    """What an address or a class says in one word on all examples, it says with hyphens where it is several."""
    selector = candidate.selector
    if (
        candidate.form != "plain"
        or candidate.attribute not in SLUGGED
        or not isinstance(selector, AttributeAt)
    ):
        return candidate
    is_address = selector.name in NAME_ATTRIBUTES or any(raw and ADDRESS.match(raw) for raw in raws)
    in_words = any(text and APART.search(text) for text in texts)
    return replace(candidate, form="slug") if is_address and not in_words else candidate


def _named(candidate: Candidate, raws: Sequence[str | None], examples: Sequence[Example]) -> int:
    """Examples whose own word counts: where texts are titles, or the shop has words of its own for some values."""
    pairs = [
        (candidate.trim.apply(raw), one)
        for raw, one in zip(raws, examples, strict=True)
        if raw is not None and (candidate.trim.means or _is_mostly_title(raw, one))
    ]
    return sum(
        1 for value, one in pairs if value is not None and one.agrees(candidate.attribute, value)
    )


def _is_mostly_title(raw: str, example: Example) -> bool:
    """Other texts that name categories, such as breadcrumbs, name those above and beside it, too."""
    title = next(iter(example.known.get(Attribute.TITLE, ())), "")
    return bool(title) and title.casefold() in raw.casefold() and len(raw) <= 2 * len(title)


def _fillers(
    attribute: Attribute, values: Sequence[str | None], right: Sequence[bool | None]
) -> tuple[str, ...]:
    """Values that stand on several examples and are right on none, where each offer should have its own.

    Of prices that is nothing at all, which stands where a shop does not say its price; one such example shows it.
    """
    known = {value for value, is_right in zip(values, right, strict=True) if is_right}
    if attribute is Attribute.PRICE:
        return (FREE,) if FREE in values and FREE not in known else ()
    if attribute not in OWN or not known:
        return ()
    counts = Counter(
        value
        for value, is_right in zip(values, right, strict=True)
        if value is not None and not is_right
    )
    return tuple(
        value
        for value, count in counts.most_common(MOST_FILLERS)
        if count > 1 and value not in known
    )


def _is_cut_off(
    values: Sequence[str | None], right: Sequence[bool | None], examples: Sequence[Example]
) -> bool:
    """Whether the longest of right descriptions are only beginnings of the known ones, and none is longer than these.

    What a shop's page says for others to show often ends after so many characters, be it within a word.
    """
    told = zip(values, right, examples, strict=True)
    lengths: dict[bool, list[int]] = {True: [], False: []}
    for value, is_right, one in told:
        if value and is_right:
            lengths[_is_beginning(value, one.known[Attribute.DESCRIPTION])].append(len(value))
    return bool(lengths[True]) and min(lengths[True]) + LENGTH_OF_A_WORD >= max(
        lengths[False], default=0
    )


def _is_beginning(value: str, known: Sequence[str]) -> bool:
    if len(value) >= max(map(len, known)):
        return False
    begun = APART.sub("", value)
    whole = [APART.sub("", one) for one in known]
    return begun not in whole and any(one.startswith(begun) for one in whole)


def _scraps(
    candidate: Candidate, values: Sequence[str | None], right: Sequence[bool | None]
) -> tuple[str, ...]:
    """What cuts leave of a text where the catalog knows no number: `wc` of `wc_post_17` stands on more such pages.

    What stands on one only, and is a number like the known ones, is one that the catalog lacks.
    """
    if (
        candidate.attribute not in NUMBERS
        or candidate.attribute is Attribute.EAN
        or candidate.trim == NO_CUT
    ):
        return ()
    found = list(zip(values, right, strict=True))
    counts = Counter(value for value, is_right in found if value is not None and is_right is None)
    are_numbers = all(_has_digit(value or "") for value, is_right in found if is_right)
    return tuple(
        value
        for value, count in counts.items()
        if count > 1 or (are_numbers and not _has_digit(value))
    )


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _trim_at(candidate: Candidate, opened: Opened, place: int) -> Trim:
    """The cut as it would be without this example: a word that it alone has taught cannot speak for it."""
    if not candidate.trim.words:
        return candidate.trim
    own = opened.only_at(candidate.attribute, place)
    words = tuple(word for word in candidate.trim.words if word != own)
    return candidate.trim.model_copy(update={"words": words or ("",)})


def scores(tallies: Sequence[Tally]) -> list[float]:
    """The score of each tally, relative to the best agreement that any of them reaches."""
    best = max((one.agreement for one in tallies), default=0.0)
    whole = max((one.hits for one in tallies if not one.is_cut_off and not one.misses), default=0)
    return [_trust(one, whole) * one.agreement / best if best else 0.0 for one in tallies]


def _trust(one: Tally, whole: int) -> float:
    """How far it is trusted to hold elsewhere: less where it counts its way, less so where a long text tells it.

    What ends at some length has told the whole of short texts only. That needs another place that has told the `whole`
    of several and is never wrong: where there is none, it is the catalog that knows more than the page says.
    """
    if one.is_cut_off and 2 * whole >= one.hits:
        return CUT_OFF
    if not one.candidate.is_by_way:
        return 1.0
    return BY_WAY_TO_LONG if one.candidate.attribute in LONG_ONES else BY_WAY


def rank(tallies: Sequence[Tally]) -> list[tuple[float, Tally]]:
    """Tallies with their scores, best first; near ties go to the place whose name fits the attribute."""
    scored = zip(scores(tallies), tallies, strict=True)
    return sorted(scored, key=lambda pair: -(pair[0] + LARGEST_TIE * _fitness(pair[1])))


def _fitness(one: Tally) -> float:
    """The tie-break: a place whose words fit the attribute, and that holds little besides the value.

    What finds the first of many elements finds another one where the first is missing; of headings and pictures, the
    page's first is meant. What spells names as the catalog does comes before what does not; addresses have lost the
    capitals.
    """
    attribute = one.candidate.attribute
    loose = 0.0 if attribute in LONG_ONES else min(one.spare, 100) / 100
    first_meant = attribute is Attribute.IMAGE or (
        attribute is Attribute.TITLE and is_heading(one.candidate)
    )
    crowded = 0.0 if first_meant else min(CROWDED * log2(max(one.crowd, 1.0)), MOST_CROWDED)
    unspelt = LOWERED if one.candidate.form == "slug" else 0.0
    return plausibility(one.candidate) - loose - crowded - one.respelled - unspelt
