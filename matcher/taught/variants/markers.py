"""Markers: the words of a record about its volume, part, edition, year, size and model number.

`vol. 2`, `3rd edition`, `500 ml`. A column that is called like a rule holds its marker without any
word beside it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from matcher.dedupe.base.records import Records
from matcher.records.text import fold, has_digit, tokenize
from matcher.records.units import extract_quantities
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.values import YEAR_PATTERN

# Rules about the numbers of a work.
NUMBERING = ("volume", "part")
# Characters of a record that are read.
MAX_CHARACTERS = 1_000
# Characters of the shortest model number.
MIN_MODEL_NUMBER = 3
# Letters of the longest sign of a volume that is no number: A, Bb.
MAX_SIGN = 2

Markers = frozenset[str]

_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eins": "1", "zwei": "2", "drei": "3", "vier": "4",
}  # fmt: skip
_ORDINALS = {
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6",
    "seventh": "7", "eighth": "8", "ninth": "9", "tenth": "10",
    "erste": "1", "zweite": "2", "dritte": "3", "vierte": "4", "funfte": "5", "sechste": "6",
    "siebte": "7", "achte": "8", "neunte": "9", "zehnte": "10",
    "premiere": "1", "premier": "1", "deuxieme": "2", "seconde": "2", "troisieme": "3",
    "quatrieme": "4", "cinquieme": "5", "sixieme": "6", "septieme": "7", "huitieme": "8",
    "neuvieme": "9", "dixieme": "10", "quinta": "5", "sexta": "6", "sesta": "6",
    "primera": "1", "segunda": "2", "tercera": "3",
    "cuarta": "4", "prima": "1", "seconda": "2", "terza": "3", "quarta": "4",
}  # fmt: skip
# The words of one language end in several ways: zweite, zweiter, zweites.
_ORDINAL = rf"({'|'.join(_ORDINALS)})[nrs]?"
# From a number to another one: 1-3, 1 bis 3.
_SPAN = r"\s?(?:-|bis|to)\s?"
_ORDINAL_ENDINGS = r"st|nd|rd|th|i?eme|e?re|er|e|a|o|-?я"
_NUMERAL = rf"(\d{{1,4}}(?:{_SPAN}\d{{1,4}})?|[ivxlc]{{1,6}}|{'|'.join(_WORDS)})(?![^\W_])"
_VOLUME_WORDS = r"volumes?|vols?|v|t(?=\.)|bande?|bde?|tom(?:es?)?|том|т|tomo|cilt|svazek"
_PART_WORDS = (
    r"parts?|pt|teil|tl|partie|часть|ч|chast|ch(?=\.)|cz(?=\.)|parte|books?|buch|livre|книга|kniga"
    r"|issues?|heft|fasc(?:icule|icle)?|halbbd|halbband|lfg|deel|number|nr|no|episode|season"
)
# The part of a volume behind its number: vol. 2.1, Bd. II/2, tome 3,1, Bd. 2, T. 1.
_NESTED = r"(?:\d{1,3}|[ivx]{1,5})(?:[.,/]|[,;]?\s+t\.\s*)(\d{1,2})(?![\d.,/])"
_NESTED_PART = re.compile(rf"\b(?:{_VOLUME_WORDS})\b[.\s#:]*{_NESTED}")
# Singular only: `2 vols` is the extent of a work.
_ONE_VOLUME = r"volume|vol|band|bd|tome?|том|tomo"
_ONE_PART = r"part|pt|teil|partie|часть|chast|parte|book|buch|livre|книга|kniga|heft|fasc|halbbd|halbband|deel"
# Words between the number of an edition and its name: 2nd revised and enlarged edition. Possessive
# quantifiers, so that a text of such words only is not split in all possible ways.
_REVISED = (
    r"(?:(?:rev|enl|erw|verb|verm|uberarb|neubearb|bearb|neu|durchges|aktual|vollst|vollig|unverand|erganzte"
    r"|corr|augm|aum|exp|updated|improved|completely|fully|revue|corrigee|исправ|испр|доп|перераб|ispr|dop|pererab)"
    r"[^\W\d_]*+[.,\s]*+|(?:and|und|et|e|y|и|u)\b\s*+|&\s*+){0,6}"
)
_EDITION_NAMES = (
    r"(?:edn|edition|editie|edicion|edizione|edicao|aufl|auflage|ausg|ausgabe|изд|издание|uppl|utg|wyd|vyd"
    r"|izd|druk|ed)\b"
)
_EDITION_BEFORE = re.compile(
    r"(?<![\w.-])(\d{1,3})(?:st|nd|rd|th|ere|eme|er|-?e|-oe|da|a|te|:e|-?е|-?ое)?\b[.,ªº]?[,\s]*"
    rf"{_REVISED}{_EDITION_NAMES}"
)
_EDITION_WORD = re.compile(rf"\b{_ORDINAL}\b[,\s]*{_REVISED}{_EDITION_NAMES}")
_EDITION_AFTER = re.compile(
    r"\b(?:(?:edition|auflage|издание)\s*:?|(?:ed|изд|izd)\.)\s*(\d{1,3})(?![\d.,]*\d)\b"
)
_EDITION_ROMAN = re.compile(rf"(?<![\w.-])([ivx]{{1,5}})\.?\s+{_REVISED}{_EDITION_NAMES}")
_REVISED_EDITION = re.compile(rf"\brev(?:ised)?[.\s]+{_EDITION_NAMES}")
# A value of a column of volumes: 2.1, II/2.
_NESTED_VALUE = re.compile(rf"\W*{_NESTED}")
_NUMBER = re.compile(r"\d{1,9}")
# A numeral with which a value begins.
_FIRST_NUMERAL = re.compile(rf"\W*{_NUMERAL}")
# A numeral at the end of a title: Kinetics II, Kinetics (2).
_LAST_NUMERAL = re.compile(r"(?<=\w)[\s.,:;(–-]+(\d{1,2}|[ivx]{1,6})[).\s]*$")
_TITLE_COLUMNS = frozenset(
    ("title", "titel", "titre", "titulo", "titolo", "tytul", "work", "werk", "name", "film")
)
# Words in names of columns with the series of a work, whose numbers are no volumes of it.
_SERIES_WORDS = frozenset(("series", "serie", "reihe", "collection", "collana", "coleccion"))
_YEAR = re.compile(rf"(?<!\d){YEAR_PATTERN}(?!\d)")


@dataclass(frozen=True)
class VariantRule:
    """A rule: its name, its markers in folded text, and words in names of columns that hold them.

    In such a column a value needs no word beside it: `read_bare` reads it.
    """

    name: str
    read: Callable[[str], Markers]
    read_bare: Callable[[str], Markers]
    column_words: tuple[str, ...] = ()


def _counted(words: str, singular: str) -> Callable[[str], Markers]:
    """Return a reader of numbers after a word (`vol. 2`) or before it (`2nd volume`, `2. Band`)."""
    after = re.compile(rf"\b(?:{words})\b[.\s#:'’]*{_NUMERAL}")
    written_after = re.compile(rf"\b(?:{singular})\s+the\s+{_ORDINAL}\b")
    before = re.compile(
        rf"\b(?:(\d{{1,3}})(?:{_ORDINAL_ENDINGS}|\.)|([ivx]{{1,6}})\.)\s*(?:{singular})\b"
    )
    written_before = re.compile(rf"\b{_ORDINAL}\s+(?:{singular})\b")

    def read(text: str) -> Markers:
        markers = {_arabic(match[1]) for match in after.finditer(text)}
        markers.update(_arabic(match[1] or match[2]) for match in before.finditer(text))
        for pattern in (written_after, written_before):
            markers.update(_ORDINALS[match[1]] for match in pattern.finditer(text))
        return frozenset(markers)

    return read


_read_counted_part = _counted(_PART_WORDS, _ONE_PART)


def _read_part(text: str) -> Markers:
    """Read parts, also those behind the number of a volume.

    >>> sorted(_read_part("saga, 2nd part")), sorted(_read_part("history, vol. 2.1"))
    (['2'], ['1'])
    """
    nested = (str(int(match[1])) for match in _NESTED_PART.finditer(text))
    return _read_counted_part(text).union(nested)


def _read_edition(text: str) -> Markers:
    """Read editions.

    >>> sorted(_read_edition("statistics, 3rd edition")), sorted(_read_edition("2. verb. aufl"))
    (['3'], ['2'])
    """
    numbers = {match[1] for match in _EDITION_BEFORE.finditer(text)}
    numbers.update(_ORDINALS[match[1]] for match in _EDITION_WORD.finditer(text))
    numbers.update(_arabic(match[1]) for match in _EDITION_ROMAN.finditer(text))
    # `2nd ed. 3 volumes`: a number before the word says more.
    if not numbers:
        numbers.update(match[1] for match in _EDITION_AFTER.finditer(text))
    if not numbers and _REVISED_EDITION.search(text):
        return frozenset(["revised"])
    return frozenset(numbers)


def _read_year(text: str) -> Markers:
    return frozenset(match[1] for match in _YEAR.finditer(text))


def _read_size(text: str) -> Markers:
    quantities = extract_quantities(tokenize(text))
    return frozenset(
        f"{amount} {unit}" for unit, amounts in quantities.items() for amount in amounts
    )


def _read_model(text: str) -> Markers:
    """Read model numbers: words with a letter and a digit that are no sizes."""
    words = [word for word in tokenize(text) if _is_model_number(word)]
    sizes = extract_quantities(words)
    amounts = {amount + unit for unit, values in sizes.items() for amount in values}
    return frozenset(words) - amounts


def _is_model_number(word: str) -> bool:
    return len(word) >= MIN_MODEL_NUMBER and has_digit(word) and not word.isdecimal()


def _bare_size(value: str) -> Markers:
    """Read a size without a unit; markers of sizes are an amount and a unit.

    >>> sorted(_bare_size("xl"))
    ['xl size']
    """
    return frozenset([f"{'_'.join(value.split())} size"])


def _any_number(value: str) -> Markers:
    """Read the first number within a value, of nine digits at most."""
    number = _NUMBER.search(value)
    return frozenset([str(int(number[0]))]) if number else frozenset()


def _bare_model(value: str) -> Markers:
    return _first_number(value) or frozenset([value])


def _bare_number(value: str) -> Markers:
    """Read the number of a part or an edition.

    A word tells nothing: it may be the title of the part, or the kind of edition.

    >>> sorted(_bare_number("iii")), sorted(_bare_number("vi : letters 1890-1905"))
    (['3'], ['6'])
    >>> sorted(_bare_number("a")), sorted(_bare_number("letters"))
    (['a'], [])
    """
    return _first_number(value) or frozenset([value] if len(value) <= MAX_SIGN else [])


def _bare_volume(value: str) -> Markers:
    """Read the number of a volume; a column of volumes may call them parts."""
    return _read_part(value) or _bare_number(value)


def _first_number(value: str) -> Markers:
    """Return the numeral with which a value begins, or else its first number."""
    if first := _FIRST_NUMERAL.match(value):
        return frozenset([_arabic(first[1])])
    return _any_number(value)


RULES: dict[str, VariantRule] = {
    rule.name: rule
    for rule in (
        VariantRule(
            "volume",
            _counted(_VOLUME_WORDS, _ONE_VOLUME),
            _bare_volume,
            ("volume", "vol", "band", "tome", "tomo"),
        ),
        VariantRule("part", _read_part, _bare_number, ("part", "teil", "issue")),
        VariantRule(
            "edition", _read_edition, _bare_number, ("edition", "ed", "auflage", "ausgabe")
        ),
        VariantRule(
            "year", _read_year, _any_number, ("year", "jahr", "vintage", "jahrgang", "annee", "ano")
        ),
        VariantRule("size", _read_size, _bare_size, ("size",)),
        VariantRule("model", _read_model, _bare_model, ("model",)),
    )
}


def _read_last_numeral(title: str) -> Markers:
    """Read the numeral at the end of a title, less its edition.

    >>> sorted(_read_last_numeral("theory of groups ii. 2nd edition"))
    ['2']
    """
    for pattern in (_EDITION_BEFORE, _EDITION_WORD):
        title = pattern.sub("", title)
    match = _LAST_NUMERAL.search(title.rstrip(" .,:;([-"))
    return frozenset([_arabic(match[1])]) if match else frozenset()


def read_last_numerals(records: Records, kinds: Sequence[ColumnKind]) -> list[Markers]:
    """Return the numeral at the end of each record's title; none where no column is called so."""
    markers: list[Markers] = [frozenset()] * len(records)
    for name, kind, column in zip(records.names, kinds, records.fields, strict=True):
        if kind is ColumnKind.TEXT and not _TITLE_COLUMNS.isdisjoint(name_words(name)):
            for row, value in enumerate(column):
                markers[row] |= _read_last_numeral(fold(value, MAX_CHARACTERS))
    return markers


def is_called_like(column_name: str, rule: VariantRule) -> bool:
    """Return True if a column's name has a word of the rule."""
    return not set(rule.column_words).isdisjoint(name_words(column_name))


def name_words(column_name: str) -> list[str]:
    """Return the folded words of a column's name: `Année_de publication`."""
    return re.split(r"[\W_]+", fold(column_name, MAX_CHARACTERS))


def read_records(records: Records, kinds: Sequence[ColumnKind], rule: VariantRule) -> list[Markers]:
    """Return the markers of each record by a rule: of its texts, and of columns called like it.

    A column of years is one whatever it is called.
    """
    read = lru_cache(maxsize=65_536)(rule.read)
    markers: list[set[str]] = [set() for _ in range(len(records))]
    for name, kind, column in zip(records.names, kinds, records.fields, strict=True):
        is_named = is_called_like(name, rule)
        is_named |= rule.name == "year" and kind is ColumnKind.YEAR
        is_text = kind in (ColumnKind.TEXT, ColumnKind.NAME)
        if rule.name in NUMBERING and not _SERIES_WORDS.isdisjoint(name_words(name)):
            continue
        holds_volumes = rule.name == "part" and is_called_like(name, RULES["volume"])
        if not is_named and not is_text and not holds_volumes:
            continue
        for row, value in enumerate(column):
            if not value:
                continue
            folded = fold(value, MAX_CHARACTERS)
            markers[row] |= read(folded) or (rule.read_bare(folded) if is_named else frozenset())
            if holds_volumes and (nested := _NESTED_VALUE.match(folded)):
                markers[row].add(str(int(nested[1])))
    shared: dict[Markers, Markers] = defaultdict()
    return [
        shared.setdefault(frozenset(record_markers), frozenset(record_markers))
        for record_markers in markers
    ]


def _arabic(numeral: str) -> str:
    """Return a numeral in Arabic digits, without leading zeros.

    >>> _arabic("xiv"), _arabic("007"), _arabic("b")
    ('14', '7', 'b')
    """
    if numeral.isdecimal():
        return str(int(numeral))
    if numeral in _WORDS:
        return _WORDS[numeral]
    if numeral in _ORDINALS:
        return _ORDINALS[numeral]
    if span := re.fullmatch(rf"(\d+){_SPAN}(\d+)", numeral):
        return f"{int(span[1])}-{int(span[2])}"
    total = 0
    for place, letter in enumerate(numeral):
        if letter not in _ROMAN:
            return numeral
        value = _ROMAN[letter]
        following = _ROMAN.get(numeral[place + 1 : place + 2], 0)
        total += -value if value < following else value
    return str(total)
