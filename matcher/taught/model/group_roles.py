"""Roles of the compared columns in agreement without labels, by their kinds and names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.features.feature import Feature
from matcher.taught.features.scalars import DIGITS_AGREE
from matcher.taught.model.similarities import CONTAINED_TEXT, DIGITS_SUFFIX, MARKER_GROUPS
from matcher.taught.variants.markers import name_words
from matcher.taught.variants.rules import SIZE

# Similarity from which on two values agree, by the feature that only columns of such values have:
# years up to one apart, equal dates (those of other days may differ in one digit), and amounts up to
# 3.5 % apart.
_SAME_FROM = {"years apart": 0.5, "days apart": 0.9999, "ratio apart": 0.9}
# Those of them that only dates and years have.
_DATE_FEATURES = {"years apart", "days apart"}
# The same of the sizes that two titles name.
_SAME_SIZE_FROM = 0.9
# Words of the names of columns whose numbers are of places.
_POSTAL_WORDS = {"zip", "zipcode", "postcode", "postal", "post", "plz", "postleitzahl", "cp", "cap"}
# Words of the names of columns that say where somebody lives or can be reached.
_CONTACT_WORDS = _POSTAL_WORDS | {
    *("street", "address", "city", "town", "suburb", "village", "county", "region", "state"),
    *("country", "place", "location", "strasse", "adresse", "ort", "stadt", "land", "rue", "ville"),
    *("pays", "calle", "ciudad", "pais", "via", "citta", "paese", "phone", "telephone", "tel"),
    *("telefon", "telefono", "fax", "mobile", "handy", "cell", "email", "mail", "website", "web"),
    *("url", "homepage"),
}
# Words of the names of dates that are of the record, and not of the thing, without accents.
_RECORD_DATE_WORDS = frozenset(
    (
        "created added entered inserted imported exported retrieved crawled updated modified changed "
        "edited seen last stand erstellt angelegt geandert aktualisiert letzte letzter dernier derniere "
        "ultimo ultima modifie creado creato cree"
    ).split()
)


@dataclass(frozen=True)
class GroupRoles:
    """Which groups of similarities are long texts, values, numbers, and ways to reach somebody.

    `measured` gives for years, dates, amounts and sizes the similarity from which on two values are
    the same; `dates` are the years and dates of things among them. `numbers` names the groups of
    digits, each with the group of its column. `contacts` are addresses, phone numbers and the like,
    which change together when somebody moves; `postal_codes` are among them.
    """

    long_texts: tuple[str, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    dates: frozenset[str] = frozenset()
    numbers: Mapping[str, str] = field(default_factory=dict)
    contacts: frozenset[str] = frozenset()
    postal_codes: frozenset[str] = frozenset()


def find_group_roles(features: Sequence[Feature], kinds: Mapping[str, ColumnKind]) -> GroupRoles:
    """Find the roles of the groups of all features, given the kinds of the columns."""
    measured = {MARKER_GROUPS[SIZE]: _SAME_SIZE_FROM}
    long_texts = list[str]()
    numbers = dict[str, str]()
    for feature in features:
        if feature.name == CONTAINED_TEXT:
            long_texts.append(feature.group)
        if feature.name in _SAME_FROM:
            measured[feature.group] = _SAME_FROM[feature.name]
        if feature.name == DIGITS_AGREE:
            numbers[feature.group + DIGITS_SUFFIX] = feature.group
    contacts = {
        name
        for name, kind in kinds.items()
        if kind is ColumnKind.ADDRESS or not _CONTACT_WORDS.isdisjoint(name_words(name))
    }
    postal = {name for name in kinds if not _POSTAL_WORDS.isdisjoint(name_words(name))}
    dates = {
        feature.group
        for feature in features
        if feature.name in _DATE_FEATURES
        and _RECORD_DATE_WORDS.isdisjoint(name_words(feature.group))
    }
    return GroupRoles(
        long_texts=tuple(long_texts),
        measured=measured,
        dates=frozenset(dates),
        numbers=numbers,
        contacts=frozenset(contacts),
        postal_codes=frozenset(postal),
    )
