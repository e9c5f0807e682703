"""Synthetic pairs: reproducible rounds with known truth."""

from collections import Counter

from catalog.models import OfferFields
from matcher.records.record import build_records
from matcher.training.synthetic_pairs import MAX_OFFERS, generate_synthetic_pairs


def test_rounds_are_always_the_same(lamps: list[OfferFields]) -> None:
    """Every random draw is seeded; some offers are held back, and each copy knows its offer."""
    catalog = build_records(lamps)
    first, second = (list(generate_synthetic_pairs(catalog, {})) for _ in range(2))
    assert first == second
    for pairs in first:
        assert None in pairs.truth
        assert any(row is not None for row in pairs.truth)
        for page, row in zip(pairs.shop, pairs.truth, strict=True):
            assert row is None or pairs.catalog[row].link == page.link


def test_a_large_catalog_sends_siblings_together() -> None:
    """Each round of a large catalog has offers with their nearest siblings, within its bound."""
    titles = [f"{name} lamp {size} lm" for name in range(1000, 1500) for size in (10, 20)]
    catalog = build_records([OfferFields(title=title) for title in titles])
    for pairs in generate_synthetic_pairs(catalog, {}):
        names = Counter(record.title.split()[0] for record in pairs.catalog)
        assert len(pairs.catalog) <= MAX_OFFERS
        assert sum(count == 2 for count in names.values()) > len(names) / 3
