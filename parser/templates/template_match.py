"""Template matching: is a page an offer page, and of which template?

A page fingerprint is the set of features that a template leaves on each of its pages: classes, ids,
schema.org names, the kinds of its scripts, the folder of the URL; digits are folded. A template's
signature weights the features of its offer pages. Category, search and article pages share the
shop's header and footer with its offers, so `rules_generator.training.page_clusters` weights each
feature by its rarity on other pages.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import fsum
from operator import itemgetter
from typing import Any, NamedTuple

from parser.page.document import Document
from parser.page.element_index import NAME_ATTRIBUTES, ElementNames, NamedElements
from parser.page.url_paths import is_home_page, url_folder
from parser.rules.model import Signature, Template
from parser.rules.selector import CONTENT
from parser.scripts.blocks import SCHEMA_ORG, DataScript

# Kinds of features that are looked up only where a signature has them, by a text within the
# feature.
CLASS = "."
ID = "#"
TYPED = "[itemtype="
ALL_KINDS = (CLASS, ID, TYPED, CONTENT)
# Rank of a kind's look-up cost: ids and types cost a walk through the page each, and classes are
# the most frequent.
LOOKUP_COSTS = {ID: 1, TYPED: 2, CLASS: 2}
# Bounds against hostile input: classes of an element, characters of a feature.
MAX_CLASSES = 12
MAX_FEATURE_CHARS = 120
# Folders of the URL's path that are features.
MAX_FOLDERS = 3
# Entries of a cache before it is emptied.
MAX_CACHED = 5_000
NO_FEATURES = frozenset[str]()
DIGITS = re.compile(r"\d+")
TYPE = re.compile(r'"@type"\s*:\s*"(\w{1,40})"')

# A function from an observation on a page to the features it means.
Extractor = Callable[[Any], tuple[str, ...]]


def page_fingerprint(document: Document) -> frozenset[str]:
    """Return all features of a page."""
    features: list[str] = []
    for extract, observations in _observations(document):
        features += chain.from_iterable(map(extract, observations))
    return frozenset(features)


def _observations(
    document: Document, kinds: Container[str] = ALL_KINDS
) -> Iterator[tuple[Extractor, Collection[Any]]]:
    """Yield the observations on a page by kind, each with their feature extractor.

    Classes, ids, types and templates cost a walk through the page each, and are omitted unless
    `kinds` has them.
    """
    if CLASS in kinds:
        yield _class_features, set(document.element_index.classes)
    if ID in kinds:
        yield _id_feature, document.element_index.ids
    if TYPED in kinds:
        yield _type_feature, document.element_index.types
    yield _names_features, [document.element_index.names]
    scripts = document.scripts
    in_templates = scripts.in_templates if CONTENT in kinds else []
    data_scripts = (*scripts.data, *in_templates)
    yield _script_features, [(script.css, _types_in(script)) for script in data_scripts]
    yield _folder_features, [url_folder(document.url)]
    page_type = document.first('meta[property="og:type"]')
    if page_type is not None:
        yield _page_type_feature, [page_type.attrs.get("content")]


# The extractors are cached: a shop's pages repeat the same classes, ids and names.


@lru_cache(maxsize=16_384)
def _class_features(classes: str | None) -> tuple[str, ...]:
    return tuple(_fold(f".{name}") for name in (classes or "").split()[:MAX_CLASSES])


@lru_cache(maxsize=16_384)
def _id_feature(name: str | None) -> tuple[str, ...]:
    if not name:
        return ()
    return (_fold(f"#{name}"),)


def _names_features(elements: NamedElements) -> tuple[str, ...]:
    return tuple(chain.from_iterable(map(_name_features, elements.names)))


@lru_cache(maxsize=16_384)
def _name_features(names: ElementNames) -> tuple[str, ...]:
    tag, *values = names
    pairs = zip(NAME_ATTRIBUTES, values, strict=True)
    return tuple(_fold(f"{tag}[{name}={value}]") for name, value in pairs if value)


@lru_cache(maxsize=16_384)
def _type_feature(typed_element: tuple[str | None, str | None]) -> tuple[str, ...]:
    tag, itemtype = typed_element
    if not itemtype:
        return ()
    return (_fold(f"{tag}{TYPED}{itemtype}]"),)


def _script_features(script: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
    css, types = script
    return (_fold(css), *(f"ld+json {kind}" for kind in types))


def _types_in(script: DataScript) -> tuple[str, ...]:
    if script.css != SCHEMA_ORG:
        return ()
    return tuple(sorted(set(TYPE.findall(script.text))))


def _folder_features(path: str) -> tuple[str, ...]:
    folders = [part for part in path.split("/") if part]
    depths = range(1, min(len(folders), MAX_FOLDERS) + 1)
    return tuple(_fold(f"url:/{'/'.join(folders[:depth])}/") for depth in depths)


def _page_type_feature(page_type: str | None) -> tuple[str, ...]:
    return (_fold(f"og:type={page_type}"),)


@lru_cache(maxsize=16_384)
def lookup_cost(feature: str) -> int:
    """Return the rank of the cost to look up a feature; names and data are read anyway."""
    return LOOKUP_COSTS.get(_kind_of(feature), 0)


def _kind_of(feature: str) -> str:
    if feature.startswith((CLASS, ID)):
        return feature[:1]
    return next((kind for kind in (TYPED, CONTENT) if kind in feature), "")


def _fold(feature: str) -> str:
    return DIGITS.sub("0", feature)[:MAX_FEATURE_CHARS]


def signature_similarity(fingerprint: Collection[str], signature: Signature) -> float:
    """Return the share of a signature's weight that a page shows, in [0, 1]; 1 without features."""
    weights = signature.marks
    total = fsum(weights.values())
    if not total:
        return 1.0
    return fsum([weights[feature] for feature in fingerprint if feature in weights]) / total


def match_rank(
    fingerprint: Collection[str], signature: Signature
) -> tuple[bool, bool, float, float]:
    """Return the key that orders templates by how well they match a page.

    Its third item is the similarity. Templates that match come first, then the more similar. Of two
    equally similar templates, the one with more weight comes first: it may have all features of the
    other, and more. A template without features matches every page, but comes last among those that
    match.
    """
    share = signature_similarity(fingerprint, signature)
    total = fsum(signature.marks.values())
    return share >= signature.threshold, bool(signature.marks), share, total


class TemplateMatch(NamedTuple):
    """A template and its similarity to a page."""

    template: Template
    similarity: float

    @property
    def matches(self) -> bool:
        """Whether the page is similar enough to be one of the template's."""
        return self.similarity >= self.template.signature.threshold


def rank_templates(
    fingerprint: Collection[str], templates: Iterable[Template]
) -> list[TemplateMatch]:
    """Return the match of each template with a page of this fingerprint, best first."""
    scored = [(match_rank(fingerprint, template.signature), template) for template in templates]
    scored.sort(key=itemgetter(0), reverse=True)
    return [TemplateMatch(template, rank[2]) for rank, template in scored]


class TemplateMatcher:
    """Matches pages with a shop's templates; caches features, as pages repeat the same ones."""

    def __init__(self, templates: Sequence[Template]) -> None:
        self._templates = templates
        self._known = frozenset(
            feature for template in templates for feature in template.signature.marks
        )
        self._kinds = frozenset(map(_kind_of, self._known))
        self._features: dict[Extractor, dict[Any, frozenset[str]]] = {}
        self._rankings: dict[frozenset[str], list[TemplateMatch]] = {}

    def rank(self, document: Document) -> list[TemplateMatch]:
        """Return each template's match with a page, best first; none for the shop's home page."""
        if is_home_page(document.url):
            return []
        features = self._known_features(document) if self._known else NO_FEATURES
        ranking = self._rankings.get(features)
        if ranking is None:
            if len(self._rankings) > MAX_CACHED:
                self._rankings.clear()
            ranking = self._rankings[features] = rank_templates(features, self._templates)
        return ranking

    def _known_features(self, document: Document) -> frozenset[str]:
        """Return the features of a page that some template has."""
        sets: list[frozenset[str]] = []
        for extract, observations in _observations(document, self._kinds):
            cached = self._features.setdefault(extract, {})
            try:
                sets.extend(map(cached.__getitem__, observations))
            except KeyError:
                self._add_missing(cached, extract, observations)
                sets.extend(map(cached.__getitem__, observations))
        return frozenset().union(*sets)

    def _add_missing(
        self, cached: dict[Any, frozenset[str]], extract: Extractor, observations: Collection[Any]
    ) -> None:
        """Cache the known features of observations that are new."""
        if len(cached) > MAX_CACHED:
            cached.clear()
        for observation in observations:
            if observation not in cached:
                # One shared empty set: most observations have no known feature.
                cached[observation] = self._known.intersection(extract(observation)) or NO_FEATURES
