"""Claims: values that a page states for its offer, each with the trust in its kind of source.

Only the ratios of the trust values matter: the trust of sources that agree adds up
(`parser.heuristics.heuristic_reader`).
"""

from dataclasses import dataclass

from catalog.models import Attribute

# schema.org's product in JSON-LD.
JSON_LD_TRUST = 1.0
# schema.org's product in microdata or RDFa.
MARKUP_TRUST = 0.9
# An object of data that has the page's title.
DATA_TRUST = 0.8
# OpenGraph and similar meta elements; titles and descriptions there are often written for search
# engines.
META_TRUST = 0.7
META_TEXT_TRUST = 0.35
# The page's heading.
HEADING_TRUST = 0.6
# A breadcrumb in structured data, and one that is only visible.
BREADCRUMB_DATA_TRUST = 0.6
BREADCRUMB_TRUST = 0.55
# A value behind a label, and a single amount near the heading.
LABEL_TRUST = 0.5
NEAR_HEADING_TRUST = 0.5
# An element whose class names the attribute.
CLASS_TRUST = 0.4

# Sources by name: claims of one source count once.
JSON_LD = "JSON-LD"
MARKUP = "markup"
DATA = "data"
META = "OpenGraph"
HEADING = "heading"
BREADCRUMB = "breadcrumb"
LABEL = "label"
NEAR_HEADING = "near the heading"
CLASS = "class"


@dataclass(frozen=True)
class Claim:
    """A value of an attribute, the trust in it, and the kind of source that states it."""

    attribute: Attribute
    value: str
    trust: float
    source: str
