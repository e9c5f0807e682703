"""Regular expressions on texts from outside take time in proportion to the text, or the text is
short: none lets a page, a feed or a sitemap hold a process for minutes.
"""

import math
import re
from collections.abc import Sequence
from itertools import islice

import pytest

from tests.regexes import NamedPattern, attacks, list_patterns, run

# Repetitions of the pumped text, and the same for an expression whose time is looked at closely.
REPEATS = 600
# Seconds of processor time from which on it is: with this many repetitions, an expression whose
# time grows with the square takes longer.
SUSPICIOUS_SECONDS = 0.0001
# Repetitions that take an expression whose time doubles with each one longer than this.
FEW_REPEATS = 18
TOO_LONG_SECONDS = 0.003
# Factor by which a text is lengthened, and that by which an expression whose time grows with the
# square would take longer at least.
LENGTHENED = 4
SUSPICIOUS_GROWTH = 7
# Doubling a text may double the time; the rest is noise of a busy machine.
MAX_GROWTH = 2.3
# Measurements, of which the least counts.
TRIES = 5
# An expression that needs time in proportion to its text, as a measure of the machine's speed.
LINEAR = NamedPattern("here", "LINEAR", re.compile(r"(?:[a-z]\d)+x"), "match")
LINEAR_TEXT = "a1" * 50_000
# Time that an expression may take on the longest text that it gets, as a multiple of LINEAR's: 0.15 s
# on the machine on which it was chosen.
MAX_BOUNDED_TIMES = 200
# Texts that are tried on it: those for its first repetitions, and so for each of its numbers.
MAX_BOUNDED_ATTACKS = 60

# Expressions whose time may grow faster, by their place: the characters of the longest text that
# they get, and what holds it to that.
BOUNDED = {
    "catalog.values.prices": (1_000, "price.MAX_RAW_LENGTH, and price.MAX_LENGTH = 200 for most"),
    "parser.page.raised_cents._ADJACENT_UNITS_BEFORE": (40, "raised_cents.MAX_AMOUNT_CHARS"),
    "catalog.values.image._SIZE_SUFFIX": (2_048, "image.MAX_URL_LENGTH"),
    "rules_generator.locate.element_selectors.NUMBERED_CLASS": (100, "MAX_CLASS_CHARS"),
    "catalog.feeds.formats.xml.fields._TOKEN": (1_000, "fields.MAX_UNCLOSED comments, sections"),
    "catalog.feeds.columns._WITH_BRACKETS": (200, "names of columns: rows.MAX_NAME_LENGTH"),
}


@pytest.fixture(scope="module")
def patterns() -> Sequence[NamedPattern]:
    """All expressions of the modules that read texts from outside."""
    return list_patterns()


def test_all_modules_are_looked_at(patterns: Sequence[NamedPattern]) -> None:
    """Expressions are found by name, in containers, and with the method that runs them."""
    methods = {str(named): named.method for named in patterns}
    assert len(methods) > 250
    assert methods["parser.heuristics.labelled_values.MARK"] == "search"
    assert methods["catalog.html._WITHOUT_LONG_TAG"] == "fullmatch"


def test_time_grows_with_the_text(patterns: Sequence[NamedPattern]) -> None:
    """Doubling a text that is made for an expression at most doubles its time."""
    slow = []
    for named in patterns:
        if bound_of(named) is None and (growth := worst_growth(named)) > MAX_GROWTH:
            slow.append(f"{named}: {growth:.1f} times as long for twice the text")
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize("place", BOUNDED)
def test_bounded_texts_are_read_at_once(patterns: Sequence[NamedPattern], place: str) -> None:
    """Expressions whose time grows faster get short texts only."""
    length, _ = BOUNDED[place]
    chosen = [named for named in patterns if str(named).startswith(place)]
    assert chosen
    limit = MAX_BOUNDED_TIMES * min(run(LINEAR, LINEAR_TEXT) for _ in range(TRIES))
    for named in chosen:
        for prefix, pump, suffix in islice(attacks(named.pattern), MAX_BOUNDED_ATTACKS):
            text = prefix + pump * (length // len(pump)) + suffix
            assert run(named, text) < limit, f"{named}: {text[:80]!r}"


def bound_of(named: NamedPattern) -> int | None:
    """Return the length of the longest text that an expression gets; None: no bound."""
    for place, (length, _) in BOUNDED.items():
        if str(named).startswith(place):
            return length
    return None


def worst_growth(named: NamedPattern) -> float:
    """Return the greatest factor by which twice the text takes longer, of all texts to try."""
    worst = 1.0
    for prefix, pump, suffix in attacks(named.pattern):
        if run(named, prefix + pump * FEW_REPEATS + suffix) > TOO_LONG_SECONDS:
            return math.inf
        short, long = (prefix + pump * (REPEATS * factor) + suffix for factor in (1, LENGTHENED))
        seconds = run(named, short)
        if seconds < SUSPICIOUS_SECONDS or run(named, long) < SUSPICIOUS_GROWTH * seconds:
            continue
        # The least of several measurements is disturbed least.
        once, longer = (min(run(named, text) for _ in range(TRIES)) for text in (short, long))
        worst = max(worst, (longer / once) ** (1 / math.log2(LENGTHENED)))
        if worst > MAX_GROWTH:
            break
    return worst


@pytest.mark.parametrize("expression", [r"\s+$", r"(?:a|a)*b", r"(\w+)\d\s*:"])
def test_slow_expressions_are_noticed(expression: str) -> None:
    """The texts that are tried show expressions that are known to be slow."""
    named = NamedPattern("here", expression, re.compile(expression), "search")
    assert worst_growth(named) > MAX_GROWTH
