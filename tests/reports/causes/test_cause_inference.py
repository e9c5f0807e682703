"""Causes: each case fills a shop and states the cause and evidence of one missing offer.

To add a cause, add its case here.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog.feeds.importing import import_offers
from catalog.language.languages import ENGLISH
from catalog.models import Run, RunState, Shop, utc_now
from catalog.storage.store import Store
from reports.causes.cause_kinds import CauseKind
from reports.model.findings import list_findings
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


def _rejected_with_both_numbers(fill: Any, run: int) -> None:
    # In whatever order the words of the row come.
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red lamp", sku="SKUX-4711", han="HANX-4712")
    fill.rejected_row("{'han': ['HANX-4712'], 'sku': ['SKUX-4711']}", line=44)


def _not_rejected(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "p/x-1", title="Red lamp", sku="12")
    fill.rejected_row(
        '{"link": "http://127.0.0.1:8000/p/x-1-large", "title": "Red lamp XL", "stock": "12"}'
    )


def _variant_of(fill: Any, run: int, listed_title: str, title: str) -> None:
    _listed_offers(fill, run)
    fill.listed(run, "listed-one", title=listed_title, price=20)
    near = {"title": listed_title, "url": fill.url("listed-one"), "price": 20}
    fill.finding(run, "x", title=title, known_id=fill.catalog_ids, nearest=near, price=20)


def _variant(fill: Any, run: int) -> None:
    _variant_of(fill, run, "Fono A12 black 64GB", "Fono A12 black 128GB")


def _variant_by_decimals(fill: Any, run: int) -> None:
    _variant_of(fill, run, "Juice 5,0 l", "Juice 0,5 l")


def _variant_by_order(fill: Any, run: int) -> None:
    _variant_of(fill, run, "Rope 2 m x 50 cm", "Rope 50 m x 2 cm")


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


def _missing_offers(fill: Any, run: int, **fields: Any) -> None:
    """Eight missing offers like the listed ones, at their prices, with these fields."""
    for n in range(8):
        extra = {
            "category": f"Garden > {('Hoses', 'Mowers')[n % 2]}",
            "brand": f"Brand{n % 4}",
            "price": 12 + 7 * n,
        }
        fill.finding(run, "x" if not n else f"x{n}", **extra | fields)


def _out_of_stock(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    _missing_offers(fill, run, availability="out_of_stock")


def _one_out_of_stock(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    fill.finding(run, "x", availability="out_of_stock", price=20)


def _no_ean(fill: Any, run: int) -> None:
    _listed_offers(fill, run, ean=EAN)
    _missing_offers(fill, run)


def _wrong_ean(fill: Any, run: int) -> None:
    _listed_offers(fill, run, ean=EAN)
    _missing_offers(fill, run, ean="4006381333932")


def _ean_prefix(fill: Any, run: int) -> None:
    _listed_offers(fill, run, ean=EAN)
    _missing_offers(fill, run, ean="5449000000996")


def _category_with_an_exception(fill: Any, run: int) -> None:
    _category(fill, run)
    for n in range(8):
        fill.finding(run, f"y{n}", category="Kitchen > Pans", price=12 + n)
    fill.listed(run, "exception", category="Kitchen > Pans", price=13)


def _category_under_another_branch(fill: Any, run: int) -> None:
    for n in range(60):
        fill.listed(run, f"m{n}", category=f"Men > {('Shoes', 'Shirts')[n % 2]}", price=10 + n)
        fill.listed(run, f"w{n}", category="Women > Shirts", price=10 + n)
    for n in range(20):
        fill.catalog_offer(None, category="Men > Shoes", title=f"unpaired {n}", price=10 + n)
        fill.finding(run, "x" if not n else f"x{n}", category="Women > Shoes", price=12 + n)


def _category_in_a_flat_feed(fill: Any, run: int) -> None:
    for n in range(60):
        fill.listed(run, f"w{n}", category="Women > Shirts", price=10 + n)
    for n in range(20):
        fill.catalog_offer(None, category="Shoes", title=f"unpaired {n}", price=10 + n)
        fill.finding(run, "x" if not n else f"x{n}", category="Women > Shoes", price=12 + n)


def _part_of_a_brand(fill: Any, run: int) -> None:
    _listed_offers(fill, run)
    for n in range(30):
        verdict = "listed" if n % 5 == 4 else "missing"
        path = "x" if not n else f"x{n}"
        extra = {"brand": "Nova", "category": "Garden > Hoses", "price": 10 + n}
        if verdict == "listed":
            fill.listed(run, path, **extra)
        else:
            fill.finding(run, path, **extra)


def _price_with_an_exception(fill: Any, run: int) -> None:
    _price(fill, run)
    for n in range(8):
        fill.finding(run, f"y{n}", price=1205 + 30 * n, category="Garden > Hoses", brand="Brand1")
    fill.listed(run, "exception", price=1290, category="Garden > Hoses", brand="Brand1")


def _price_in_feed(fill: Any, run: int) -> None:
    _price(fill, run)
    for n in range(8):
        extra = {"price": 205 + 30 * n, "brand": "Brand1", "category": "Garden > Hoses"}
        fill.catalog_offer(None, title=f"unpaired {n}", currency="EUR", **extra)


def _stopped_import(fill: Any, run: int) -> None:
    for n in range(60):
        fill.listed(run, f"p{n}", price=10 + n % 7, sku=f"A-{1000 + n}")
    for n in range(20):
        fill.finding(run, "x" if not n else f"x{n}", price=10 + n % 7, sku=f"A-{1060 + n}")


def _variants_at_random(fill: Any, run: int) -> None:
    for n in range(60):
        missing = n % 6
        for size in range(5):
            extra = {"price": 10 + n, "variant_of": fill.url(f"page{n}"), "title": f"Shirt {n}"}
            if size == missing:
                fill.finding(run, f"page{n}?size={size}", **extra)
            else:
                fill.listed(run, f"page{n}?size={size}", **extra)
    fill.finding(run, "x", price=20, variant_of=fill.url("page7"))


def _variants_collapsed(fill: Any, run: int) -> None:
    for n in range(30):
        extra = {"price": 10 + n, "variant_of": fill.url(f"page{n}")}
        fill.listed(run, f"page{n}?size=0", **extra)
        fill.finding(run, f"page{n}?size=1" if n else "x", **extra)
    for size in (0, 1):
        fill.listed(run, f"pair?size={size}", price=5, variant_of=fill.url("pair"))


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
    (_category_of_a_shop_without_listed_offers, K.OTHER, "no pattern found"),
    (_category_in_feed, K.OTHER, "no pattern found"),
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
    (
        _rejected_with_both_numbers,
        K.REJECTED,
        "row 44 of offers.csv has the same article number and was rejected",
    ),
    (_not_rejected, K.OTHER, "no pattern found"),
    (
        _variant,
        K.VARIANT,
        "differs from the listed “Fono A12 black 64GB” only by “128gb” instead of “64gb”",
    ),
    (
        _variant_by_decimals,
        K.VARIANT,
        "differs from the listed “Juice 5,0 l” only by “0,5” instead of “5,0”",
    ),
    (
        _variant_by_order,
        K.VARIANT,
        "differs from the listed “Rope 2 m x 50 cm” only by “Rope 50 m x 2 cm” instead of "
        "“Rope 2 m x 50 cm”",
    ),
    (_variant_on_its_page, K.VARIANT, "on the same page as the listed “Shirt”"),
    (_another_product_of_one_script, K.OTHER, "no pattern found"),
    (_variant_on_the_page_of_a_listed_one, K.VARIANT, "on the same page as the listed “Shirt red”"),
    (
        _variant_by_words_of_the_shops_pages,
        K.VARIANT,
        "differs from the listed “Shirt teal” only by “rust” instead of “teal”",
    ),
    (_another_product, K.OTHER, "no pattern found"),
    (_a_feed_with_a_row_for_each_size, K.OTHER, "no pattern found"),
    (_no_variant_of_something_unlisted, K.OTHER, "no pattern found"),
    (
        _out_of_stock,
        K.OUT_OF_STOCK,
        "100% of the offers out of stock are missing, elsewhere 0%",
    ),
    (_one_out_of_stock, K.OTHER, "no pattern found"),
    (_no_ean, K.EAN, "100% of the offers without an EAN are missing, elsewhere 0%"),
    (_wrong_ean, K.EAN, "100% of the offers with an invalid EAN are missing, elsewhere 0%"),
    (_ean_prefix, K.EAN_PREFIX, "100% of the offers with an EAN that begins with 5449000 are"),
    (
        _category_with_an_exception,
        K.CATEGORY,
        "nearly the whole category “Kitchen” is absent (1 of 17 offers listed)",
    ),
    (
        _category_under_another_branch,
        K.CATEGORY,
        "the whole category “Women › Shoes” is absent (0 of 20 offers listed)",
    ),
    (_category_in_a_flat_feed, K.OTHER, "no pattern found"),
    (_part_of_a_brand, K.BRAND_PART, "80.0% of the brand “Nova” is missing, elsewhere 0%"),
    (
        _price_with_an_exception,
        K.PRICE,
        "nearly no offer from €200 upwards is listed (1 of 17 offers listed)",
    ),
    (_price_in_feed, K.OTHER, "no pattern found"),
    (
        _stopped_import,
        K.STOPPED,
        "100% of the last 20 offers in the order of their numbers are missing, before them 0%",
    ),
    (_variants_at_random, K.OTHER, "no pattern found"),
    (
        _variants_collapsed,
        K.VARIANT,
        "93.8% of the offers with a listed variant on their page are missing, elsewhere",
    ),
    (_no_ean_anywhere, K.OTHER, "no pattern found"),
    (
        _ambiguous,
        K.AMBIGUOUS,
        "possibly “Lamp, red”, but the matcher could not decide (probability 50.0%)",
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
    assert finding.evidence[0].text.startswith(evidence)


def _examined(findings: list[Finding], fill: Any) -> Finding:
    """Return the offer that the case is about."""
    paths = ("x", "p/x-1", "shirt?size=s", "index.php?product_id=9")
    urls = {fill.url(path) for path in paths}
    return next(finding for finding in findings if finding.url in urls)


def test_offers_that_the_previous_run_did_not_see_are_new(
    fill: Any, store: Store, shop: Shop
) -> None:
    """Offers are new if the previous finished run saw them under none of their URLs, and a cause if many are."""
    first = fill.run()
    second = fill.run()
    for n in range(30):
        fill.listed(first, f"a{n}")
        fill.finding(second, f"a{n}", "listed")
    for run in (first, second):
        fill.finding(run, "old", price=5)
    fill.finding(first, "moved-from", price=5)
    fill.finding(second, "moved-to", price=5, urls=[fill.url("moved-to"), fill.url("moved-from")])
    for n in range(6):
        fill.finding(second, f"x{n}", price=5)
    fill.save()
    findings = list_findings(store, shop, second)
    causes = {finding.url: finding.cause for finding in findings if finding.cause}
    new = {fill.url(f"x{n}"): K.NEW.value for n in range(6)}
    assert causes == new | {fill.url("old"): K.OTHER.value, fill.url("moved-to"): K.OTHER.value}
    sentence = next(finding.evidence[0].text for finding in findings if finding.cause == K.NEW)
    assert "not seen in the run of 9 November 2026 are missing" in sentence


def test_a_single_new_offer_is_an_observation(fill: Any, store: Store, shop: Shop) -> None:
    """One new offer may be missing by chance: no cause, but the row says that it is new."""
    first = fill.run()
    fill.listed(first, "a")
    second = fill.run()
    fill.finding(second, "a", "listed")
    fill.finding(second, "x", price=5)
    fill.save()
    finding = _examined(list_findings(store, shop, second), fill)
    assert finding.cause == K.OTHER.value
    assert finding.evidence[1].text == "not seen in the shop in the run of 9 November 2026"


def test_further_causes_are_kept_as_observations(fill: Any, store: Store, shop: Shop) -> None:
    """An offer that is out of stock in an absent category has both as evidence, the category first."""
    run = fill.run()
    _category(fill, run)
    fill.finding(run, "y", category="Kitchen > Pans", price=12, availability="out_of_stock")
    fill.save()
    findings = {finding.url: finding for finding in list_findings(store, shop, run)}
    finding = findings[fill.url("y")]
    assert finding.cause == K.CATEGORY.value
    assert finding.evidence[1].text == "out of stock, according to its page"


def test_rejected_rows_name_the_surest_field(fill: Any, store: Store, shop: Shop) -> None:
    """Where two numbers of an offer are in a rejected row, the same one is named in each process."""
    run = fill.run()
    for n in range(12):
        fill.finding(run, f"x{n}", sku=f"AR-{n}-500", han=f"MN-{n}-700")
        fill.rejected_row(f"AR-{n}-500;MN-{n}-700")
    fill.save()
    for finding in list_findings(store, shop, run):
        assert " has the same article number " in finding.evidence[0].text


def test_lost_rows_are_a_cause_on_record(
    fill: Any, store: Store, shop: Shop, tmp_path: Path
) -> None:
    """An offer that the feed had until the last import is named so, with the date of the import.

    Once a feed has it again it is lost no more.
    """
    row = '{{"id": "{0}", "title": "Offer number {0}", "link": "{1}"}}\n'
    feed = tmp_path / "feed.jsonl"
    rows = [row.format(n, fill.url(f"p{n}")) for n in range(20)]
    feed.write_text("".join(rows))
    import_offers(store, shop, str(feed))
    feed.write_text("".join(rows[1:]))
    import_offers(store, shop, str(feed))
    finding = _cause_of_first(fill, store, shop)
    assert (finding.cause, finding.url) == (K.LOST.value, fill.url("p0"))
    day = ENGLISH.date(utc_now())
    (evidence,) = finding.evidence
    assert evidence.text == f"the feed had this offer until the import of {day} (same link)"
    feed.write_text("".join(rows))
    import_offers(store, shop, str(feed))
    assert _cause_of_first(fill, store, shop).cause != K.LOST.value


def _cause_of_first(fill: Any, store: Store, shop: Shop) -> Finding:
    """Return the first finding of a new run of twenty, in which it alone is missing."""
    run = Run(shop_id=shop.id, state=RunState.DONE)
    with store.write() as session:
        session.add(run)
    for n in range(20):
        fill.finding(run.id, f"p{n}", "listed" if n else "missing", price=5)
    fill.save()
    return next(
        found for found in list_findings(store, shop, run.id) if found.url == fill.url("p0")
    )


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
