"""What other rooms, scripts and documents may rely on: each of these names can be imported and says what it is."""

import importlib

import pytest

PUBLIC = {
    "url_cleaner.errors": "BadUrl",
    "url_cleaner.clean": "Cleaned clean is_clean same_site",
    "url_cleaner.evaluate": "Evaluation evaluate_urls",
    "url_cleaner.learn": "OwnKeys learn_keys",
    "catalog.bodies": "Bodies",
    "catalog.errors": "ScoutError UsageError UnknownShop ConfigError FeedError UnreadableFeed MissingFields StoreError "
    "SchemaOutdated SchemaTooNew StorageFull CrawlError UnreachableShop BlockedShop LearnError NoKnownOffers RuleError "
    "HostilePage BadUrl Busy",
    "catalog.feeds.importing": "Imported import_offers",
    "catalog.frontier": "Frontier Link Outcome",
    "catalog.models": "Attribute PageState PageKind RunState Stage Verdict Word Shop Run Page OfferFields KnownOffer "
    "ShopOffer BadRow StoredRules Match PersonsWord Schedule SitemapSeen",
    "catalog.progress": "Progress silent",
    "catalog.settings": "Settings",
    "catalog.store": "Store upgrade head",
    "catalog.values": "Hint normalise key same currency_of fields values_of",
    "crawler.crawl": "Crawled crawl_shop",
    "crawler.recrawl": "reset",
    "parser.document": "Document",
    "parser.outcome": "Reading",
    "parser.read": "PageReading read",
    "parser.rules": "Rule RuleSet Template Signature",
    "parser.selector": "TextAt AttributeAt JsonAt selector_from",
    "parser.trim": "Trim",
    "parser.votes": "Vote",
    "parser.worker": "Parsed parse_shop",
    "rules_generator.learn": "Learnt learn_shop",
    "rules_generator.evaluate": "evaluate_extraction",
    "matcher.ladder.chain": "Chain",
    "matcher.ladder.cluster": "clusters",
    "matcher.ladder.embeddings": "Embeddings",
    "matcher.ladder.exact": "Exact fingerprint",
    "matcher.ladder.merge": "Merged merge",
    "matcher.ladder.minhash": "MinHash",
    "matcher.ladder.minhash_index": "MinHashIndex",
    "matcher.ladder.prefix_filter": "PrefixFilter",
    "matcher.ladder.records": "Records load of_fields of_texts rows",
    "matcher.ladder.rung": "Joined Level Rung exactly",
    "matcher.ladder.seen": "seen sorted_out",
    "matcher.ladder.segments": "Segments",
    "matcher.ladder.simhash": "SimHash",
    "matcher.match": "Found match",
    "matcher.run": "Matched match_shop",
    "reports.completeness": "completeness",
    "reports.coverage": "Coverage coverage",
    "reports.findings": "Finding rows",
    "reports.write": "report_shop",
    "scout.cli": "main",
    "scout.demo.server": "serve",
    "scout.demo.shop": "Demo",
    "scout.inspection": "inspect_page",
    "scout.pipeline": "run_shop",
    "scout.summary": "RunSummary summary",
}


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in PUBLIC.items() for name in names.split()]
)
def test_public(module: str, name: str) -> None:
    """A public name is where it is said to be, and has a docstring."""
    found = getattr(importlib.import_module(module), name)
    assert found.__doc__
