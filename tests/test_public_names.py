"""What other rooms, scripts and documents may rely on: each of these names can be imported and says what it is."""

import importlib

import pytest

PUBLIC = {
    "crawler.crawl": "Crawled crawl_shop",
    "crawler.frontier.revisit": "reset",
    "parser.page.document": "Document",
    "parser.voting.winner": "Reading",
    "parser.page_reader": "PageReading read_page",
    "parser.rules.model": "Rule RuleSet Template Signature",
    "parser.rules.selector": "TextAt AttributeAt JsonAt selector_from",
    "parser.rules.trim": "Trim",
    "parser.voting.votes": "Vote",
    "parser.parse_job": "ParseSummary parse_shop",
    "rules_generator.learn": "Learnt learn_shop",
    "rules_generator.evaluation.evaluate": "evaluate_extraction",
    "matcher.dedupe.cluster.chain": "Chain",
    "matcher.dedupe.cluster.clustering": "clusters",
    "matcher.dedupe.embedding.embeddings": "Embeddings",
    "matcher.dedupe.exact.exact_join": "Exact fingerprint",
    "matcher.dedupe.cluster.merging": "Merged merge",
    "matcher.dedupe.minhash.minhash": "MinHash",
    "matcher.dedupe.minhash.minhash_index": "MinHashIndex",
    "matcher.dedupe.prefix.prefix_filter": "PrefixFilter",
    "matcher.dedupe.base.records": "Records load of_fields of_texts rows",
    "matcher.dedupe.base.join": "Joined Level Rung exactly",
    "matcher.dedupe.exact.disk_fingerprints": "seen sorted_out",
    "matcher.dedupe.edit.segments": "Segments",
    "matcher.dedupe.simhash.simhash": "SimHash",
    "matcher.match": "Found match",
    "matcher.match_job": "Matched match_shop",
    "reports.model.report_model": "Report build_report measure_completeness",
    "reports.statistics.coverage": "Coverage measure_coverage",
    "reports.model.findings": "list_findings",
    "reports.statistics.findings_reader": "Finding",
    "reports.write.report_files": "report_shop",
    "scout.cli": "main",
    "scout.demo.server": "serve",
    "scout.demo.assortment.demo_shop": "Demo",
    "scout.inspect.page_inspection": "inspect_page",
    "scout.pipeline.run_records": "run_shop",
    "scout.pipeline.run_summary": "RunSummary summary",
}


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in PUBLIC.items() for name in names.split()],
)
def test_public(module: str, name: str) -> None:
    """A public name is where it is said to be, and has a docstring."""
    found = getattr(importlib.import_module(module), name)
    assert found.__doc__
