"""Data model and storage: shops, pages, offers, normalised values, feeds, settings, errors.

>>> from catalog import Attribute, normalise
>>> normalise(Attribute.PRICE, "from 1,299.00 €")
'1299.00'

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from catalog.errors import BadUrl as BadUrl
    from catalog.errors import BlockedShop as BlockedShop
    from catalog.errors import Busy as Busy
    from catalog.errors import ConfigError as ConfigError
    from catalog.errors import CrawlError as CrawlError
    from catalog.errors import FeedError as FeedError
    from catalog.errors import HostilePage as HostilePage
    from catalog.errors import LearnError as LearnError
    from catalog.errors import MissingFields as MissingFields
    from catalog.errors import NeedsBrowser as NeedsBrowser
    from catalog.errors import NoKnownOffers as NoKnownOffers
    from catalog.errors import RuleError as RuleError
    from catalog.errors import SchemaOutdated as SchemaOutdated
    from catalog.errors import SchemaTooNew as SchemaTooNew
    from catalog.errors import ScoutError as ScoutError
    from catalog.errors import StorageFull as StorageFull
    from catalog.errors import StoreError as StoreError
    from catalog.errors import UnknownShop as UnknownShop
    from catalog.errors import UnreachableShop as UnreachableShop
    from catalog.errors import UnreadableFeed as UnreadableFeed
    from catalog.errors import UsageError as UsageError
    from catalog.feeds.importing import ImportSummary as ImportSummary
    from catalog.feeds.importing import import_offers as import_offers
    from catalog.html import decode_html as decode_html
    from catalog.html import open_html as open_html
    from catalog.links.shop_links import make_cleaner as make_cleaner
    from catalog.models import Attribute as Attribute
    from catalog.models import BadRow as BadRow
    from catalog.models import Crawl as Crawl
    from catalog.models import DriftKind as DriftKind
    from catalog.models import KnownOffer as KnownOffer
    from catalog.models import LostOffer as LostOffer
    from catalog.models import Match as Match
    from catalog.models import OfferFields as OfferFields
    from catalog.models import Page as Page
    from catalog.models import PageKind as PageKind
    from catalog.models import PageState as PageState
    from catalog.models import Review as Review
    from catalog.models import ReviewDecision as ReviewDecision
    from catalog.models import Run as Run
    from catalog.models import RunState as RunState
    from catalog.models import Schedule as Schedule
    from catalog.models import Shop as Shop
    from catalog.models import ShopOffer as ShopOffer
    from catalog.models import SitemapSeen as SitemapSeen
    from catalog.models import Stage as Stage
    from catalog.models import StoredRules as StoredRules
    from catalog.models import Verdict as Verdict
    from catalog.runtime.progress import Progress as Progress
    from catalog.runtime.settings import Settings as Settings
    from catalog.storage.bodies import BodyStore as BodyStore
    from catalog.storage.frontier import FetchOutcome as FetchOutcome
    from catalog.storage.frontier import Frontier as Frontier
    from catalog.storage.frontier import FrontierLink as FrontierLink
    from catalog.storage.store import Store as Store
    from catalog.storage.store import upgrade_schema as upgrade_schema
    from catalog.values import Hint as Hint
    from catalog.values import is_same_value as is_same_value
    from catalog.values import make_offer as make_offer
    from catalog.values import normalise as normalise
    from catalog.values import offer_values as offer_values
    from catalog.values import value_key as value_key
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "errors": [
                "BadUrl",
                "BlockedShop",
                "Busy",
                "ConfigError",
                "CrawlError",
                "FeedError",
                "HostilePage",
                "LearnError",
                "MissingFields",
                "NeedsBrowser",
                "NoKnownOffers",
                "RuleError",
                "SchemaOutdated",
                "SchemaTooNew",
                "ScoutError",
                "StorageFull",
                "StoreError",
                "UnknownShop",
                "UnreachableShop",
                "UnreadableFeed",
                "UsageError",
            ],
            "feeds.importing": ["ImportSummary", "import_offers"],
            "html": ["decode_html", "open_html"],
            "links.shop_links": ["make_cleaner"],
            "models": [
                "Attribute",
                "BadRow",
                "Crawl",
                "DriftKind",
                "KnownOffer",
                "LostOffer",
                "Match",
                "OfferFields",
                "Page",
                "PageKind",
                "PageState",
                "Review",
                "ReviewDecision",
                "Run",
                "RunState",
                "Schedule",
                "Shop",
                "ShopOffer",
                "SitemapSeen",
                "Stage",
                "StoredRules",
                "Verdict",
            ],
            "runtime.progress": ["Progress"],
            "runtime.settings": ["Settings"],
            "storage.bodies": ["BodyStore"],
            "storage.frontier": ["FetchOutcome", "Frontier", "FrontierLink"],
            "storage.store": ["Store", "upgrade_schema"],
            "values": [
                "Hint",
                "is_same_value",
                "make_offer",
                "normalise",
                "offer_values",
                "value_key",
            ],
        },
    )
