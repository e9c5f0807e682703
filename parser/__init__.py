"""Read offers from web pages by rules, with the votes that led to each value.

>>> from parser import Attribute, Rule, RuleSet, Template, TextAt, read_page
>>> title = Rule(attribute=Attribute.TITLE, selector=TextAt(css="h1"))
>>> rules = RuleSet(templates=(Template(name="product", rules=(title,)),))
>>> read_page("<h1>Desk lamp</h1>", rules, url="https://shop.example/p/1").offer.title
'Desk lamp'

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from catalog.models import Attribute as Attribute
    from parser.compiled_rules import CompiledRules as CompiledRules
    from parser.crawled_pages import CrawledPage as CrawledPage
    from parser.crawled_pages import PageOpener as PageOpener
    from parser.crawled_pages import list_crawled_pages as list_crawled_pages
    from parser.heuristics.heuristic_reader import HeuristicValue as HeuristicValue
    from parser.heuristics.heuristic_reader import read_by_heuristics as read_by_heuristics
    from parser.page.document import Document as Document
    from parser.page_reader import PageReading as PageReading
    from parser.page_reader import drop_uncertain as drop_uncertain
    from parser.page_reader import read_attributes as read_attributes
    from parser.page_reader import read_page as read_page
    from parser.parse_job import ParseSummary as ParseSummary
    from parser.parse_job import parse_shop as parse_shop
    from parser.parse_job import stored_rules as stored_rules
    from parser.rules.model import Rule as Rule
    from parser.rules.model import RuleSet as RuleSet
    from parser.rules.model import Signature as Signature
    from parser.rules.model import Template as Template
    from parser.rules.model import VariantLayout as VariantLayout
    from parser.rules.selector import AnySelector as AnySelector
    from parser.rules.selector import AttributeAt as AttributeAt
    from parser.rules.selector import JsonAt as JsonAt
    from parser.rules.selector import TextAt as TextAt
    from parser.rules.selector import selector_from as selector_from
    from parser.rules.trim import Trim as Trim
    from parser.scripts.script_cache import ScriptCache as ScriptCache
    from parser.variants import Variant as Variant
    from parser.voting.votes import Vote as Vote
    from parser.voting.votes import run_rule as run_rule
    from parser.voting.winner import Reading as Reading
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "compiled_rules": ["CompiledRules"],
            "crawled_pages": ["CrawledPage", "PageOpener", "list_crawled_pages"],
            "heuristics.heuristic_reader": ["HeuristicValue", "read_by_heuristics"],
            "page.document": ["Document"],
            "page_reader": ["PageReading", "drop_uncertain", "read_attributes", "read_page"],
            "parse_job": ["ParseSummary", "parse_shop", "stored_rules"],
            "rules.model": [
                "Attribute",
                "Rule",
                "RuleSet",
                "Signature",
                "Template",
                "VariantLayout",
            ],
            "rules.selector": ["AnySelector", "AttributeAt", "JsonAt", "TextAt", "selector_from"],
            "rules.trim": ["Trim"],
            "scripts.script_cache": ["ScriptCache"],
            "variants": ["Variant"],
            "voting.votes": ["Vote", "run_rule"],
            "voting.winner": ["Reading"],
        },
    )
