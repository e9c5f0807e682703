"""Causes: each case fills a shop and states the cause and evidence of one missing offer.

To add a cause, add its case here.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import Shop
from catalog.storage.store import Store
from reports.causes.cause_inference import CauseKind
from reports.causes.gaps import detect_gap, find_price_gaps
from reports.model.findings import list_findings
from reports.statistics.completeness import VerdictCounts
from reports.statistics.findings_reader import Finding

EAN = "4006381333931"


def _listed_offers(fill: Any, run: int, number: int = 60, **fields: Any) -> None:
    """Listed offers of several categories and brands, at prices from 10 to 69."""
    for n in range(number):
        extra = {
            "category": f"Garden > {('Hoses', 'Mowers')[n % 2]}",
            "brand": f"Brand{n % 4}",
            "price": 10 + n,
        }
        fill.listed(run, f"listed-{n}", **extra | fields)


def _category(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    for n in range(8):
        fill.finding(
            run,
            "x" if not n else f"x{n}",
            category=f"Kitchen > {('Pans', 'Knives')[n % 2]}",
            price=12 + n,
        )


def _category_of_a_shop_without_listed_offers(fill: Any, run: int) -> None:
    for n in range(30):
        fill.finding(run, "x" if not n else f"x{n}", category=f"C{n % 3}", price=n)
    fill.catalog_offer("else", title="Something else")


def _category_in_feed(fill: Any, run: int) -> None:
    _category(fill, run)
    for n in range(8):
        fill.catalog_offer(f"k{n}", category="Haushalt > Kitchen", title=f"unpaired {n}")


def _category_below_one_that_is_listed(fill: Any, run: int) -> None:
    for n in range(60):
        fill.listed(
            run, f"listed-{n}", category=f"Kitchen > {('Pots', 'Cups')[n % 2]}", price=10 + n
        )
    for n in range(8):
        fill.finding(run, "x" if not n else f"x{n}", category="Kitchen > Pans", price=12 + n)


def _price(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    for n in range(8):
        fill.finding(
            run,
            "x" if not n else f"x{n}",
            category="Garden > Hoses",
            brand="Brand1",
            price=205 + 30 * n,
        )


def _price_between(fill: Any, run: int) -> None:
    _listed_offers(fill, run, 30)
    fill.listed(run, "dear", price=601)
    for n in range(9):
        fill.finding(
            run,
            "x" if not n else f"x{n}",
            category="Garden > Hoses",
            brand="Brand1",
            price=102 + 11 * n,
        )
    for n in range(20):
        fill.listed(run, f"m{n}", price=30.5, brand="Brand1", category="Garden > Hoses")


def _brand(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    for n in range(5):
        fill.finding(
            run,
            "x" if not n else f"x{n}",
            brand="Nova" if n % 2 else "NOVA",
            category="Garden > Hoses",
            price=20 + n,
        )


def _rejected_by_link(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red lamp")
    fill.rejected_row(
        '{"id": "7", "link": "https://go.example/?u=http%3A%2F%2F127.0.0.1%3A8000%2Fp%2Fx-1%3Futm_source%3Da"}',
        line=44,
    )


def _rejected_by_ean(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red lamp", ean=EAN)
    fill.rejected_row(f"4711;Lamp;{EAN};;red", line=44)


def _rejected_by_title(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red standing lamp, 40 cm")
    fill.rejected_row(
        "<item><title>Red Standing Lamp, 40 cm</title><price>?</price></item>", line=44
    )


def _rejected_as_repr(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red lamp", sku="RL-40-RED")
    fill.rejected_row("{'id': ['7'], 'sku': ['RL-40-RED']}", line=44)


def _not_rejected(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red lamp", sku="12")
    fill.rejected_row(
        '{"link": "http://127.0.0.1:8000/p/x-1-large", "title": "Red lamp XL", "stock": "12"}'
    )


def _variant(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.listed(run, "phone-64", title="Fono A12 black 64GB", price=20)
    near = {"title": "Fono A12 black 64GB", "url": fill.url("phone-64"), "price": 20}
    fill.finding(
        run, "x", title="Fono A12 black 128GB", known_id=fill.catalog_ids, nearest=near, price=20
    )


def _variant_on_its_page(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.listed(run, "shirt?size=m", title="Shirt", price=20)
    near = {"title": "Shirt", "url": fill.url("shirt?size=m")}
    fill.finding(
        run, "shirt?size=s", title="Hemd S", known_id=fill.catalog_ids, nearest=near, price=20
    )


def _another_product_of_one_script(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    for number, title in enumerate(("Kamera Z black", "Gartenschlauch 20 m", "Kamera X")):
        fill.listed(run, f"index.php?product_id={number}", title=title, price=20)
    near = {"title": "Kamera Z black", "url": fill.url("index.php?product_id=0")}
    fill.finding(
        run,
        "index.php?product_id=9",
        title="Kamera Y black",
        known_id=fill.catalog_ids,
        nearest=near,
        price=20,
    )


def _variant_on_the_page_of_a_listed_one(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.listed(run, "shirt-red", title="Shirt red", price=20, variant_of=fill.url("shirt"))
    fill.finding(run, "x", title="Hemd rot", price=20, variant_of=fill.url("shirt"))


def _variant_by_words_of_the_shops_pages(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    for n, word in enumerate(("teal", "rust")):
        fill.finding(
            run, f"vest-{n}", title=f"Vest {word} long", price=20, variant_of=fill.url("vest")
        )
    fill.listed(run, "shirt-red", title="Shirt teal", price=20)
    near = {"title": "Shirt teal", "url": fill.url("shirt-red")}
    fill.finding(run, "x", title="Shirt rust", known_id=fill.catalog_ids, nearest=near, price=20)


def _another_product(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.listed(run, "ab-1", title="AB-1 key blank", price=20)
    near = {"title": "AB-1 key blank", "url": fill.url("ab-1")}
    fill.finding(
        run, "x", title="AR-1 key blank", known_id=fill.catalog_ids, nearest=near, price=20
    )


def _a_feed_with_a_row_for_each_size(fill: Any, run: int) -> None:
    _variant(fill, run)
    for size in (32, 512):
        fill.listed(run, f"else-{size}", title=f"Kamera Z {size}GB", price=20)


def _no_variant_of_something_unlisted(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    known = fill.catalog_offer("phone-64", title="Fono A12 black 64GB")
    near = {"title": "Fono A12 black 64GB", "url": fill.url("phone-64")}
    fill.finding(run, "x", title="Fono A12 black 128GB", known_id=known, nearest=near, price=20)


def _out_of_stock(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "x", availability="out_of_stock", price=20)


def _no_ean(fill: Any, run: int) -> None:
    _listed_offers(fill, run, ean=EAN)
    fill.finding(run, "x", price=20)


def _wrong_ean(fill: Any, run: int) -> None:
    _listed_offers(fill, run, ean=EAN)
    fill.finding(run, "x", price=20, ean="4006381333932")


def _no_ean_anywhere(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "x", price=20)


def _ambiguous(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "x", "unsure", score=0.5, nearest={"title": "Lamp, red"})


def _empty_catalog(fill: Any, run: int) -> None:
    fill.finding(run, "x", category="C", brand="B", price=1)


K = CauseKind
CASES: list[tuple[Callable[[Any, int], None], CauseKind, str]] = [
    (_category, K.CATEGORY, "the whole category “Kitchen” is absent (0 of 8 offers listed)"),
    (_category_of_a_shop_without_listed_offers, K.OTHER, "no other cause found"),
    (_category_in_feed, K.OTHER, "no other cause found"),
    (
        _category_below_one_that_is_listed,
        K.CATEGORY,
        "the whole category “Kitchen › Pans” is absent (0 of 8 offers listed)",
    ),
    (_price, K.PRICE, "no offer from €200 upwards is listed (0 of 8 offers listed)"),
    (_price_between, K.PRICE, "no offer from €100 to below €500 is listed (0 of 9 offers listed)"),
    (_brand, K.BRAND, "the whole brand “NOVA” is absent (0 of 5 offers listed)"),
    (
        _rejected_by_link,
        K.REJECTED,
        "row 44 of offers.csv has the same link and was rejected: price is missing",
    ),
    (_rejected_by_ean, K.REJECTED, "row 44 of offers.csv has the same EAN and was rejected"),
    (_rejected_by_title, K.REJECTED, "row 44 of offers.csv has the same title and was rejected"),
    (
        _rejected_as_repr,
        K.REJECTED,
        "row 44 of offers.csv has the same article number and was rejected",
    ),
    (_not_rejected, K.OTHER, "no other cause found"),
    (
        _variant,
        K.VARIANT,
        "differs from the listed “Fono A12 black 64GB” only in “128gb” for “64gb”",
    ),
    (_variant_on_its_page, K.VARIANT, "on the same page as the listed “Shirt”"),
    (_another_product_of_one_script, K.OTHER, "no other cause found"),
    (_variant_on_the_page_of_a_listed_one, K.VARIANT, "on the same page as the listed “Shirt red”"),
    (
        _variant_by_words_of_the_shops_pages,
        K.VARIANT,
        "differs from the listed “Shirt teal” only in “rust” for “teal”",
    ),
    (_another_product, K.OTHER, "no other cause found"),
    (_a_feed_with_a_row_for_each_size, K.OTHER, "no other cause found"),
    (_no_variant_of_something_unlisted, K.OTHER, "no other cause found"),
    (_out_of_stock, K.OUT_OF_STOCK, "the page says out of stock"),
    (_no_ean, K.EAN, "the page states no EAN; the pages of 100"),
    (_wrong_ean, K.EAN, "the page states “4006381333932”, which is not a valid EAN"),
    (_no_ean_anywhere, K.OTHER, "no other cause found"),
    (
        _ambiguous,
        K.AMBIGUOUS,
        "possibly “Lamp, red”, but the matcher could not decide (score 0.50)",
    ),
    (_empty_catalog, K.OTHER, "the catalog has no offers of this shop"),
]


@pytest.mark.parametrize(
    ("case", "kind", "evidence"), CASES, ids=[case.__name__.strip("_") for case, *_ in CASES]
)
def test_a_missing_offer_gets_its_cause_with_evidence(
    fill: Any,
    store: Store,
    shop: Shop,
    case: Callable[[Any, int], None],
    kind: CauseKind,
    evidence: str,
) -> None:
    """A missing offer gets the strongest cause that the figures support, with its evidence."""
    run = fill.run()
    case(fill, run)
    fill.save()
    finding = _examined(list_findings(store, shop, run), fill)
    assert finding.cause == kind.value
    assert finding.evidence[0].startswith(evidence)


def _examined(findings: list[Finding], fill: Any) -> Finding:
    """Return the offer that the case is about."""
    paths = ("x", "p/x-1", "shirt?size=s", "index.php?product_id=9")
    urls = {fill.url(path) for path in paths}
    return next(finding for finding in findings if finding.url in urls)


def test_an_offer_that_the_previous_run_did_not_see_is_new(
    fill: Any, store: Store, shop: Shop
) -> None:
    """An offer is new if the previous finished run saw it under none of its URLs."""
    first = fill.run()
    fill.listed(first, "a")
    fill.finding(first, "old", price=5)
    fill.finding(first, "moved-from", price=5)
    second = fill.run()
    fill.listed(second, "a")
    fill.finding(second, "old", price=5)
    fill.finding(second, "moved-to", price=5, urls=[fill.url("moved-to"), fill.url("moved-from")])
    fill.finding(second, "x", price=5)
    fill.save()
    findings = list_findings(store, shop, second)
    causes = {finding.url: finding.cause for finding in findings if finding.cause}
    assert causes == {
        fill.url("old"): K.OTHER.value, fill.url("moved-to"): K.OTHER.value, fill.url("x"): K.NEW.value,
    }  # fmt: skip


def test_further_causes_are_kept_as_observations(fill: Any, store: Store, shop: Shop) -> None:
    """An offer that is out of stock in an absent category has both as evidence, the category first."""
    run = fill.run()
    _category(fill, run)
    fill.finding(run, "y", category="Kitchen > Pans", price=12, availability="out_of_stock")
    fill.save()
    findings = {finding.url: finding for finding in list_findings(store, shop, run)}
    finding = findings[fill.url("y")]
    assert finding.cause == K.CATEGORY.value
    assert finding.evidence[1] == "the page says out of stock"


@pytest.mark.parametrize(
    ("group", "others", "unpaired", "is_gap"),
    [
        (VerdictCounts(missing=8), VerdictCounts(listed=60, missing=10), 0, True),
        (VerdictCounts(missing=2), VerdictCounts(listed=60, missing=10), 0, False),
        (VerdictCounts(missing=8), VerdictCounts(listed=10, missing=60), 0, False),
        (VerdictCounts(missing=39, listed=1), VerdictCounts(listed=60, missing=10), 0, True),
        (VerdictCounts(missing=30, listed=10), VerdictCounts(listed=60, missing=10), 0, False),
        (VerdictCounts(missing=8), VerdictCounts(listed=60, missing=10), 8, False),
        (VerdictCounts(missing=500), VerdictCounts(), 0, False),
        (
            VerdictCounts(missing=28, missing_repeats=25),
            VerdictCounts(listed=60, missing=20),
            0,
            False,
        ),
        (
            VerdictCounts(missing=28, missing_repeats=16),
            VerdictCounts(listed=60, missing=20),
            0,
            True,
        ),
        (
            VerdictCounts(missing=8),
            VerdictCounts(listed=600, listed_repeats=595, missing=10),
            0,
            False,
        ),
    ],
)
def test_a_group_is_a_gap_only_if_chance_is_unlikely(
    group: VerdictCounts, others: VerdictCounts, unpaired: int, is_gap: bool
) -> None:
    """Few offers, a shop that lacks much everywhere, or unpaired offers in the feed make no gap."""
    total = VerdictCounts()
    total.merge(group)
    total.merge(others)
    assert (detect_gap(group, total, unpaired) is not None) is is_gap


def test_a_price_gap_needs_an_empty_feed_range() -> None:
    """A price range is no gap if the feed has offers of such prices: they merely were not paired."""
    listed, missing = [Decimal(n) for n in range(10, 90)], [Decimal(n) for n in range(200, 220)]
    products = [(price, str(price)) for price in missing]
    assert len(find_price_gaps(products, listed, 80, [])) == 1
    assert find_price_gaps(products, listed, 80, missing) == []
    assert find_price_gaps(products, [], 0, []) == []


def test_variants_of_one_product_prove_no_price_gap() -> None:
    """Twenty variants of two products count as two products, which prove no price filter."""
    listed, missing = [Decimal(n) for n in range(10, 90)], [Decimal(n) for n in range(200, 220)]
    products = [(price, str(price % 2)) for price in missing]
    assert find_price_gaps(products, listed, 80, []) == []


def test_a_finding_has_the_explanation_of_the_matcher(store: Store, shop: Shop, fill: Any) -> None:
    """The row of a finding has the stored explanation, its texts safe to print; a row without one has no such key."""
    run = fill.run()
    seen = [{"ref": "k1", "title": "Lamp\x1b[31m red", "url": None, "score": 0.4}]
    fill.finding(
        run,
        "x",
        why={"evidence": [{"kind": "title", "speaks": "for", "weight": 1.2}], "candidates": seen},
    )
    fill.finding(run, "y")
    fill.save()
    rows = {finding.url: finding.as_row() for finding in list_findings(store, shop, run)}
    assert rows[fill.url("x")]["why"]["evidence"][0]["kind"] == "title"
    assert "\x1b" not in rows[fill.url("x")]["why"]["candidates"][0]["title"]
    assert "why" not in rows[fill.url("y")]
