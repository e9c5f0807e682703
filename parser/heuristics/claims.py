"""Claims: values that a page states for its offer, each with the trust in its kind of source.

Only the ratios of the trust values matter: the trust of sources that agree adds up
(`parser.heuristics.heuristic_reader`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from catalog.models import Attribute


class Source(NamedTuple):
    """A kind of source, and the trust in it; claims of sources of one name count once."""

    name: str
    trust: float


# schema.org's product in JSON-LD.
JSON_LD = Source("JSON-LD", 1.0)
# schema.org's product in microdata or RDFa.
MARKUP = Source("markup", 0.9)
# An object of data that has the page's title.
DATA = Source("data", 0.8)
# OpenGraph and similar meta elements; titles and descriptions there are often written for search
# engines.
META = Source("OpenGraph", 0.7)
META_TEXT = Source("OpenGraph", 0.35)
# The page's heading.
HEADING = Source("heading", 0.6)
# A breadcrumb in structured data, and one that is only visible.
BREADCRUMB_DATA = Source("breadcrumb", 0.6)
BREADCRUMB = Source("breadcrumb", 0.55)
# A value behind a label, and a single amount near the heading.
LABEL = Source("label", 0.5)
NEAR_HEADING = Source("near the heading", 0.5)
# An element whose class names the attribute.
CLASS = Source("class", 0.4)


@dataclass(frozen=True)
class Claim:
    """A value of an attribute, and the kind of source that states it."""

    attribute: Attribute
    value: str
    source: Source
