"""Match the offers of a shop with a catalog: record linkage with a verdict per offer.

>>> from matcher import match_offers
>>> shop = [{"title": "Lumo Desk Lamp A12, black", "price": "49.90"}, {"title": "Tea pot, 1.5 l"}]
>>> catalog = [{"title": "Desk lamp A12 black", "brand": "Lumo", "price": "49.90"}]
>>> for result in match_offers(shop, catalog):
...     print(shop[result.offer]["title"], "is", result.verdict)
Lumo Desk Lamp A12, black is listed
Tea pot, 1.5 l is missing

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from matcher.config import MatcherConfig as MatcherConfig
    from matcher.evaluation.evaluate import evaluate_matching as evaluate_matching
    from matcher.match import MatchResult as MatchResult
    from matcher.match import match_offers as match_offers
    from matcher.match_job import MatchSummary as MatchSummary
    from matcher.match_job import match_shop as match_shop
    from matcher.records.languages.localized_page import PageVersions as PageVersions
    from matcher.records.record import Record as Record
    from matcher.records.record import build_records as build_records
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "config": ["MatcherConfig"],
            "evaluation.evaluate": ["evaluate_matching"],
            "match": ["MatchResult", "match_offers"],
            "match_job": ["MatchSummary", "match_shop"],
            "records.languages.localized_page": ["PageVersions"],
            "records.record": ["Record", "build_records"],
        },
    )
