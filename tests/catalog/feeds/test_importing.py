"""Importing: a feed's rows become the shop's known offers, all of them or none."""

import errno
import json
import os
import signal
import sqlite3
import tempfile
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlmodel import col, select

from catalog.errors import FeedError, MissingFields, StorageFull, UnreadableFeed, UsageError
from catalog.feeds import importing
from catalog.feeds.former_offers import undo_last_import
from catalog.feeds.importing import ImportSummary, import_offers
from catalog.feeds.offers import OfferParser, ParsedOffer
from catalog.models import BadRow, KnownOffer, LostOffer, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from catalog.values import Hint
from tests.catalog.conftest import Forked

OF_THE_STORE = {"id", "shop_id", "ref", "imported_at", "generation", "content_key"}


def known(store: Store, shop: Shop) -> dict[str, KnownOffer]:
    """The shop's known offers by their keys."""
    with store.read() as session:
        return {
            offer.ref: offer
            for offer in session.exec(select(KnownOffer).where(KnownOffer.shop_id == shop.id))
        }


def bad_rows(store: Store) -> list[tuple[int, str, str]]:
    """Line, reason and raw text of the bad rows."""
    with store.read() as session:
        return [
            (row.line, row.reason, row.raw)
            for row in session.exec(select(BadRow).order_by(BadRow.line))
        ]


def written(folder: Path, *offers: dict[str, Any], name: str = "feed.jsonl") -> str:
    """A feed of JSON Lines."""
    path = folder / name
    path.write_text("".join(json.dumps(offer) + "\n" for offer in offers))
    return str(path)


def test_a_german_csv(store: Store, shop: Shop, tmp_path: Path) -> None:
    """A German feed needs no flags: columns, separators, encoding and prices are told from it."""
    path = tmp_path / "angebote.csv"
    path.write_bytes(
        "Artikelnummer;Titel;Preis;Währung;Hersteller;EAN;Herstellernummer;Beschreibung;Bild;Deeplink;Kategorie;Lieferbarkeit\n"
        'L-1;Lampe "grün";1.299 €;;Lumo;4006381333931;LU-7;"<p>Hell.</p>\n<p>Groß.</p>";https://c.example/1.jpg;'
        "http://127.0.0.1:8000/p/1?utm_source=x;Wohnen > Lampen;sofort lieferbar\n"
        "L-2;Tisch;12,50;EUR;;;;;;http://127.0.0.1:8000/p/2;;Ausverkauft\n".encode("cp1252")
    )
    figures = import_offers(store, shop, str(path))
    assert figures == ImportSummary(read=2, kept=2, bad=0, opaque=0, removed=1, reasons={})
    lamp, table = known(store, shop).values()
    assert lamp.model_dump(exclude=OF_THE_STORE) == {
        "url": "http://127.0.0.1:8000/p/1",
        "link": "http://127.0.0.1:8000/p/1?utm_source=x",
        "opaque": False,
        "product": None,
        "title": 'Lampe "grün"',
        "description": "Hell. Groß.",
        "price": Decimal("1299.00"),
        "currency": "EUR",
        "brand": "Lumo",
        "category": "Wohnen > Lampen",
        "images": ["https://c.example/1.jpg"],
        "ean": "4006381333931",
        "han": "LU-7",
        "sku": "L-1",
        "availability": "in_stock",
    }
    assert (table.price, table.currency, table.availability) == (
        Decimal("12.50"),
        "EUR",
        "out_of_stock",
    )


def test_a_columns_name_may_give_the_currency(store: Store, shop: Shop, tmp_path: Path) -> None:
    """An amount is in the currency that its column's name gives in brackets, unless something
    nearer says another.
    """
    path = tmp_path / "feed.csv"
    path.write_text(
        "id;title;Price (GBP);Preis [EUR]\n1;a;12,50;\n2;b;;1.299,00\n3;c;12,50 CHF;\n4;d;on "
        "request;\n"
    )
    figures = import_offers(store, shop, str(path))
    assert figures.reasons == {"price that is no price": 1}
    prices = [(offer.price, offer.currency) for offer in known(store, shop).values()]
    assert prices[:2] == [(Decimal("12.50"), "GBP"), (Decimal("1299.00"), "EUR")]
    assert prices[2:] == [(Decimal("12.50"), "CHF"), (None, None)]


def test_doubtful_values_leave_a_note(store: Store, shop: Shop, tmp_path: Path) -> None:
    """A value that is none of its kind empties its field and is counted; the row is kept."""
    source = written(
        tmp_path,
        {
            "id": 1,
            "title": "a",
            "price": "on request",
            "ean": "4006381333932",
            "image": "blue",
            "url": "nowhere",
        },
        {"id": 2, "title": "b", "ean": "2000000000008", "availability": "blue", "sku": "x" * 90},
        {"id": 3, "title": "c", "ean": "n/a", "gtin": "0", "brand": "none", "price": ""},
        {"id": 4, "title": "d", "ean": "12", "barcode": "4006381333931"},
        {"id": 5, "title": "e", "ean": "12"},
    )
    figures = import_offers(store, shop, source)
    assert (figures.kept, figures.bad) == (5, 0)
    assert figures.reasons == {
        "link that is no URL": 1,
        "price that is no price": 1,
        "ean with a wrong check digit": 1,
        "image that is no picture's address": 1,
        "ean that names no article": 1,
        "availability in unknown words": 1,
        "sku that is no short line": 1,
        "ean that is no GTIN": 1,
    }
    offers = known(store, shop)
    assert [offers[str(n)].ean for n in range(1, 6)] == [None, None, None, "4006381333931", None]


def test_bad_rows_are_kept_aside(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Rows that are no offers are counted and kept with line, reason and the start of what stood
    there.
    """
    path = tmp_path / "feed.csv"
    path.write_text(
        "id,title,link\n1,a,\n2\n1,again,\n,,\n3,,\n4,b,\n" + "5,x,y,z" + "z" * 2000 + "\n"
    )
    figures = import_offers(store, shop, str(path))
    assert (figures.read, figures.kept, figures.bad) == (6, 2, 4)
    assert figures.reasons == {
        "has N columns, the header has N": 2,
        "has the id N of line N again": 1,
        "has neither a title nor a link": 1,
    }
    result = bad_rows(store)
    assert [(line, reason) for line, reason, _ in result] == [
        (3, "has 1 columns, the header has 3"),
        (4, "has the id '1' of line 2 again"),
        (6, "has neither a title nor a link"),
        (8, "has 4 columns, the header has 3"),
    ]
    assert result[0][2] == "2"
    assert max(len(raw) for _, _, raw in result) <= 500


def test_reasons_that_differ_in_an_id_are_counted_as_one(
    store: Store, shop: Shop, tmp_path: Path
) -> None:
    """Whatever an id holds, the reason that quotes it is the same as for any other."""
    ids = ("a:x", "b:x", "O'Neill", 'O"Neill', """O'"Neill""", "plain")
    offers = [{"id": key, "title": "a"} for key in (*ids, *ids)]
    summary = import_offers(store, shop, written(tmp_path, *offers))
    assert summary.reasons == {"has the id N of line N again": len(ids)}


def test_the_new_feed_replaces_the_old(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Offers that stay keep their number, those that went are gone, and another shop's stay
    untouched.
    """
    with store.write() as session:
        other = Shop(name="other", url="http://127.0.0.1:9000/")
        session.add(other)
    import_offers(store, other, written(tmp_path, {"id": 1, "title": "theirs"}))
    import_offers(
        store,
        shop,
        written(tmp_path, {"id": 1, "title": "old"}, {"id": 2, "title": "gone"}, {"x": 1}),
    )
    before = known(store, shop)["1"].id
    import_offers(
        store, shop, written(tmp_path, {"id": 1, "title": "new"}, {"id": 3, "title": "come"})
    )
    offers = known(store, shop)
    assert {ref: offer.title for ref, offer in offers.items()} == {"1": "new", "3": "come"}
    assert offers["1"].id == before
    assert known(store, other)["1"].title == "theirs"
    assert bad_rows(store) == []


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("none.csv", None, UnreadableFeed, "none.csv is not there: check the path"),
        ("", None, UnreadableFeed, "is a folder"),
        ("empty.csv", "", UnreadableFeed, "empty.csv is empty"),
        ("head.csv", "id,title\n", UnreadableFeed, "head.csv holds no offers"),
        ("bad.jsonl", '{"a":\n', UnreadableFeed, "bad.jsonl is no JSON: Expecting value"),
        (
            "allbad.csv",
            "id,title\n1\n2\n",
            UnreadableFeed,
            "holds no row that can be read: line 2 has 1 columns",
        ),
        ("cols.csv", "foo,bar\n1,2\n", MissingFields, "it has foo, bar"),
    ],
)
def test_unreadable_feeds_leave_the_old_offers(
    store: Store,
    shop: Shop,
    tmp_path: Path,
    name: str,
    content: str | None,
    error: type[FeedError],
    message: str,
) -> None:
    """A feed that gives nothing is refused in one line, and the offers known before stay."""
    import_offers(store, shop, written(tmp_path, {"id": 1, "title": "old"}))
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(error, match=message) as caught:
        import_offers(store, shop, str(tmp_path / name))
    assert "\n" not in str(caught.value)
    assert list(known(store, shop)) == ["1"]


def test_sale_prices_and_groups(store: Store, shop: Shop, tmp_path: Path) -> None:
    """The price is the current one: a lower sale price within its period; a product groups
    offers.
    """
    period = {
        "past": "2001-01-01T00:00+01:00/2001-02-01T00:00+01:00",
        "now": "2001-01-01/2999-01-01",
    }
    source = written(
        tmp_path,
        {"id": 1, "title": "a", "price": "20 EUR", "sale_price": "15 EUR", "product": "p"},
        {"id": 2, "title": "b", "price": "20 EUR", "sale_price": "25 EUR"},
        {
            "id": 3,
            "title": "c",
            "price": "20 EUR",
            "sale_price": "15 EUR",
            "sale_price_effective_date": period["past"],
        },
        {
            "id": 4,
            "title": "d",
            "price": "20 EUR",
            "sale_price": "15 EUR",
            "sale_price_effective_date": period["now"],
        },
        {"id": 5, "title": "e", "price": "20 EUR", "sale_price": "0.00"},
        {"id": 6, "title": "f", "sale_price": "9,99 €"},
    )
    import_offers(store, shop, source)
    offers = known(store, shop)
    assert [str(offers[str(n)].price) for n in range(1, 7)] == [
        "15.00",
        "20.00",
        "20.00",
        "15.00",
        "20.00",
        "9.99",
    ]
    assert (offers["1"].product, offers["1"].currency) == ("p", "EUR")


@pytest.mark.parametrize(
    ("days_left", "is_current"), [(0, True), (1, True), (-2, False)], ids=["today", "later", "over"]
)
def test_a_sale_lasts_to_the_end_of_its_last_day(days_left: int, is_current: bool) -> None:
    """The last day of a period belongs to it where the period names no time."""
    last_day = datetime.now(UTC).date() + timedelta(days=days_left)
    parser = OfferParser(
        {"title": ["t"], "price": ["p"], "sale_price": ["s"], "sale_period": ["d"]},
        Hint(),
        "https://shop.example/",
    )
    row = {"t": ["a"], "p": ["20 EUR"], "s": ["15 EUR"], "d": [f"2001-01-01/{last_day}"]}
    offer = parser.parse(row)
    assert isinstance(offer, ParsedOffer)
    assert str(offer.columns["price"]) == ("15.00" if is_current else "20.00")


def test_links(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Links are cleaned, kept as delivered beside it, and told where only a visit would resolve
    them.
    """
    inside = "https://www.awin1.com/cread.php?awinmid=1&ued=http%3A%2F%2F127.0.0.1%3A8000%2Fp%2F2%3Futm_source%3Dawin"
    source = written(
        tmp_path,
        {"id": 1, "title": "a", "link": "/p/1"},
        {"id": 2, "title": "b", "link": inside},
        {"id": 3, "title": "c", "link": "https://bit.example/abc"},
        {"id": 4, "link": "http://127.0.0.1:8000/p/4?a=1&amp;b=2"},
        {"id": 5, "title": "e", "link": "http://127.0.0.1:8000/" + "x" * 5000},
        {"id": 6, "title": "f", "link": "&nbsp;"},
    )
    figures = import_offers(store, shop, source)
    offers = known(store, shop)
    assert [offers[str(n)].url for n in range(1, 7)] == [
        "http://127.0.0.1:8000/p/1",
        "http://127.0.0.1:8000/p/2",
        None,
        "http://127.0.0.1:8000/p/4?a=1&b=2",
        None,
        None,
    ]
    assert offers["2"].link == inside
    assert (offers["3"].opaque, figures.opaque, figures.removed) == (True, 1, 1)
    assert figures.reasons["link longer than 4,096 characters"] == 1


def test_offers_without_an_id(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Without an id the link is the key, without tracking: the next day's session does not make
    another offer.
    """
    link = "http://127.0.0.1:8000/p/1?utm_campaign="
    import_offers(store, shop, written(tmp_path, {"title": "a", "link": f"{link}monday"}))
    first = known(store, shop)
    import_offers(
        store, shop, written(tmp_path, {"title": "a", "link": f"{link}tuesday"}, {"title": "b"})
    )
    assert first.keys() < known(store, shop).keys()


@pytest.mark.parametrize("none", ["null", " N/A ", "-", "&nbsp;"])
def test_a_key_that_says_that_there_is_none(
    store: Store, shop: Shop, tmp_path: Path, none: str
) -> None:
    """Offers whose key or product is a word for none are not one offer, nor of one product."""
    offers = [{"id": none, "product": none, "title": title} for title in ("Lamp", "Chair")]
    assert import_offers(store, shop, written(tmp_path, *offers)).kept == 2
    assert [offer.product for offer in known(store, shop).values()] == [None, None]


def test_images_of_all_columns(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Images of several columns and of comma-separated lists come together."""
    more = "https://c.example/2.jpg,https://c.example/3.jpg | https://c.example/1.jpg"
    import_offers(
        store,
        shop,
        written(
            tmp_path,
            {"title": "a", "image_link": "https://c.example/1.jpg", "additional_image_link": more},
        ),
    )
    (offer,) = known(store, shop).values()
    assert offer.images == [f"https://c.example/{n}.jpg" for n in (1, 2, 3)]


def test_columns_that_come_late(store: Store, shop: Shop, tmp_path: Path) -> None:
    """A field that only a late row has is read too."""
    rows = [{"id": n, "title": f"t{n}"} for n in range(600)]
    import_offers(
        store, shop, written(tmp_path, *rows, {"id": "last", "title": "x", "brand": "Lumo"})
    )
    assert known(store, shop)["last"].brand == "Lumo"


def test_hostile_rows(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Endless names, blanks and lists cost moderate time and space, and nothing of the other
    rows.
    """
    rows: list[dict[str, Any]] = [
        {f"{n}x{m}": 1 for m in range(200)} | {"id": n, "title": "t"} for n in range(60)
    ]
    rows.append(
        {
            "id": "a",
            "title": "t",
            "image": "https://c.example/1.jpg" + " " * 200_000 + "x",
            "x" * 100_000: 1,
        }
    )
    rows.append(
        {
            "id": "b",
            "title": "t",
            "image": ["https://c.example/1.jpg," * 500] * 50,
            "price": "1" * 100_000,
        }
    )
    rows.append(
        {
            "id": "c",
            "title": "<" * 100_000,
            "link": "http://127.0.0.1:8000/",
            "category": " " * 90_000 + ">" * 9000,
        }
    )
    start = time.monotonic()
    figures = import_offers(store, shop, written(tmp_path, *rows))
    assert (figures.kept, figures.bad) == (63, 0), bad_rows(store)
    assert time.monotonic() - start < 20


def test_mapping(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Columns with names of their own are mapped; what is mapped wrongly is said."""
    source = written(tmp_path, {"key": 7, "was_ist_es": "Lampe", "kosten": "3,50"})
    import_offers(
        store, shop, source, mapping={"id": "key", "title": "was_ist_es", "price": "Kosten"}
    )
    assert known(store, shop)["7"].price == Decimal("3.50")
    with pytest.raises(MissingFields, match="no column 'cost'"):
        import_offers(store, shop, source, mapping={"price": "cost"})


@pytest.mark.parametrize(
    ("source", "format", "error", "message"),
    [
        (
            "feed.csv",
            "excel",
            UsageError,
            "--format excel: there is no such format; there are auto, csv",
        ),
        ("feed.csv", "rest", UsageError, "is no http"),
        ("feed.csv", "sql", UsageError, "is no query"),
        ("sqlite:///none.db::SELECT 1", "auto", UnreadableFeed, "there is no such database"),
    ],
)
def test_wrong_sources(
    store: Store, shop: Shop, source: str, format: str, error: type[Exception], message: str
) -> None:
    """A format that does not fit the source is said."""
    with pytest.raises(error, match=message):
        import_offers(store, shop, source, format=format)


def test_a_query(store: Store, shop: Shop, tmp_path: Path) -> None:
    """The rows of a query are offers; a query that fails or would write is refused, without its
    password.
    """
    path = tmp_path / "catalog.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE offer (id INTEGER, name TEXT, price REAL)")
        connection.execute("INSERT INTO offer VALUES (1, 'Lampe: rot', 1.299)")
    connection.close()
    import_offers(store, shop, f"sqlite:///{path}::SELECT id, name AS title, price FROM offer")
    offer = known(store, shop)["1"]
    assert (offer.title, offer.price) == ("Lampe: rot", Decimal("1.30"))
    with pytest.raises(UnreadableFeed, match="the query fails: no such table: lamps"):
        import_offers(store, shop, f"sqlite:///{path}::SELECT * FROM lamps")
    with pytest.raises(UnreadableFeed, match="the query fails"):
        import_offers(store, shop, f"sqlite:///{path}::WITH x AS (SELECT 1) DELETE FROM offer")
    with pytest.raises(UnreadableFeed) as caught:
        import_offers(store, shop, "postgresql+nodriver://me:secret@127.0.0.1:9/x::SELECT 1")
    assert "secret" not in str(caught.value)
    # Also after an error no connection stays open.
    assert str(path) not in {file.path for file in psutil.Process().open_files()}


def test_progress(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Reading and storing tell how far they are."""
    reported: list[tuple[str, int, int | None]] = []
    rows = [{"id": n, "title": "t"} for n in range(2500)]
    import_offers(
        store,
        shop,
        written(tmp_path, *rows),
        progress=lambda what, done, total=None: reported.append((what, done, total)),
    )
    assert reported[0] == ("offers read", 1000, None)
    assert reported[-1] == ("offers stored", 2500, 2500)


def test_no_space_to_spool(
    store: Store, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full temporary folder is a clear error."""

    def full(*args: Any, **more: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = written(tmp_path, {"title": "a"})
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(StorageFull, match="no space left in"):
        import_offers(store, shop, source)
    with pytest.raises(StorageFull) as caught:
        import_offers(store, shop, "https://user:secret@feeds.example/feed.csv")
    assert "secret" not in str(caught.value)


def import_and_die(settings: Settings, source: str, where: str) -> None:
    """Be killed at the second thousand of a step."""

    def progress(label: str, done: int, total: int | None = None) -> None:
        if label == where and done >= 2000:
            os.kill(os.getpid(), signal.SIGKILL)

    store = Store.open(settings)
    import_offers(store, store.shop("demo"), source, progress=progress)


@pytest.mark.parametrize("where", ["offers read", "offers stored"])
def test_a_killed_import_changes_nothing(
    settings: Settings, store: Store, shop: Shop, tmp_path: Path, forked: Forked, where: str
) -> None:
    """Killed while reading or while storing, an import leaves the old offers; the next one does it
    all.
    """
    import_offers(store, shop, written(tmp_path, {"id": "old", "title": "old"}))
    source = written(tmp_path, *[{"id": n, "title": "t"} for n in range(3000)], name="new.jsonl")
    store.engine.dispose()
    assert forked(import_and_die, settings, source, where) == [-signal.SIGKILL]
    assert list(known(store, shop)) == ["old"]
    assert import_offers(store, shop, source).kept == 3000
    assert len(known(store, shop)) == 3000


def test_real_catalogs_need_no_flags(store: Store, shop: Shop, shared: Path) -> None:
    """The catalogs of the mirrored shops are read as they are: no bad rows, titles and prices
    throughout.
    """
    for path in sorted((shared / "data" / "sites").glob("*/catalog.jsonl")):
        lines = path.read_text().count("\n")
        figures = import_offers(store, shop, str(path))
        assert (figures.kept, figures.bad) == (lines, 0), path
        assert all(
            offer.title and offer.price is not None and offer.currency
            for offer in known(store, shop).values()
        )


# Columns of prices, and the amounts that they mean.
PRICE_COLUMNS = [
    ("a value below one", ["8.990", "24.500", "0.500"], ["8.99", "24.50", "0.50"]),
    ("a thousand without a group", ["8.990", "2450.000", "125.000"], ["8.99", "2450.00", "125.00"]),
    ("a group and decimals", ["8.990", "2,450.000"], ["8.99", "2450.00"]),
    ("decimals of another length", ["8.990", "24.5"], ["8.99", "24.50"]),
    ("commas", ["8,990 EUR", "0,500 EUR"], ["8.99", "0.50"]),
    ("commas in a group", ["8.990,00", "24.500"], ["8990.00", "24500.00"]),
    ("two groups", ["1.250.000", "24.500"], ["1250000.00", "24500.00"]),
    ("decimal commas", ["8,50", "24.500"], ["8.50", "24500.00"]),
    ("nothing", ["8.990", "24.500"], ["8990.00", "24500.00"]),
    ("a currency of three decimals", ["8.990 KWD", "24.500 KWD"], ["8.99", "24.50"]),
    (
        "most votes",
        ["0.990", "1.299,00", "2.499,00", "8.990"],
        ["0.99", "1299.00", "2499.00", "8990.00"],
    ),
    ("rounding", ["13.068 USD", "2350.000 USD"], ["13.07", "2350.00"]),
]


@pytest.mark.parametrize(("shown_by", "written_prices", "amounts"), PRICE_COLUMNS)
@pytest.mark.parametrize("distance", [0, 1500])
def test_three_decimals_are_decided_by_the_column(
    store: Store,
    shop: Shop,
    tmp_path: Path,
    shown_by: str,
    written_prices: list[str],
    amounts: list[str],
    distance: int,
) -> None:
    """What one price of a column shows holds for all, also where it comes late in the feed."""
    rows = [{"id": n, "title": "t", "price": price} for n, price in enumerate(written_prices)]
    middle = [{"id": f"m{n}", "title": "t"} for n in range(distance)]
    import_offers(store, shop, written(tmp_path, rows[0], *middle, *rows[1:]))
    offers = known(store, shop)
    assert [str(offers[str(n)].price) for n in range(len(rows))] == amounts


def test_each_price_column_has_a_format(store: Store, shop: Shop, tmp_path: Path) -> None:
    """A sale price is read as its own column shows, and compared with the regular one then."""
    rows = [
        {"id": 1, "title": "a", "price": "1.299,00 EUR", "sale_price": "999.500 EUR"},
        {"id": 2, "title": "b", "price": "12.990 EUR", "sale_price": "11.990 EUR"},
        {"id": 3, "title": "c", "price": "9,00 EUR", "sale_price": "0.990 EUR"},
    ]
    import_offers(store, shop, written(tmp_path, *rows))
    prices = [(str(offer.price), offer.currency) for offer in known(store, shop).values()]
    assert prices == [("999.50", "EUR"), ("11.99", "EUR"), ("0.99", "EUR")]


def test_cdata_that_was_escaped_stays_in_no_value(store: Store, shop: Shop, tmp_path: Path) -> None:
    """The marks of a CDATA section are no part of a value, in feeds of any format."""
    xml = tmp_path / "feed.xml"
    xml.write_text(
        "<rss><channel>"
        "<item><id>1</id><title>&lt;![CDATA[Red lamp]]&gt;</title></item>"
        "<item><id>2</id><title><![CDATA[<![CDATA[Red lamp]]>]]></title></item>"
        "<item><id>3</id><title><![CDATA[&lt;![CDATA[Red lamp]]&gt;]]></title></item>"
        "<item><id>4</id><title>&amp;lt;![CDATA[Red lamp]]&amp;gt;</title></item>"
        "<item><id>5</id><title>Red &lt;![CDATA[lamp]]&gt;</title></item>"
        "<item><id>6</id><title>&lt;![CDATA[&lt;![CDATA[Red lamp]]&gt;]]&gt;</title></item>"
        "</channel></rss>"
    )
    assert import_offers(store, shop, str(xml)).kept == 6
    assert {offer.title for offer in known(store, shop).values()} == {"Red lamp"}
    rows = [
        {
            "id": 1,
            "title": "<![CDATA[Red lamp]]>",
            "link": "<![CDATA[http://127.0.0.1:8000/p?a=1&b=2]]>",
        },
        {
            "id": 2,
            "title": "Learn CDATA[ and ]]>",
            "description": "<![CDATA[<p>Light &amp; small</p>]]>",
        },
    ]
    import_offers(store, shop, written(tmp_path, *rows))
    lamp, book = known(store, shop).values()
    assert (lamp.title, lamp.url) == ("Red lamp", "http://127.0.0.1:8000/p?a=1&b=2")
    assert (book.title, book.description) == ("Learn CDATA[ and ]]>", "Light & small")


def test_parameters_that_look_like_references(store: Store, shop: Shop, tmp_path: Path) -> None:
    """`&region=` and `&copy=` in a link are parameters, references end with a semicolon."""
    query = "id=7&region=de&copy=2&currency=EUR&order=1&lt=3"
    rows = [
        {"id": 1, "title": "a", "link": f"http://127.0.0.1:8000/p?{query}"},
        {"id": 2, "title": "b", "link": f"http://127.0.0.1:8000/p?{query.replace('&', '&amp;')}"},
    ]
    import_offers(store, shop, written(tmp_path, *rows))
    urls = {offer.url for offer in known(store, shop).values()}
    assert urls == {f"http://127.0.0.1:8000/p?{query}"}


def test_gtins_of_feeds(store: Store, shop: Shop, tmp_path: Path) -> None:
    """GTINs are read through what number types do to them; lost ones are counted by reason."""
    path = tmp_path / "feed.csv"
    gtins = [
        "5901234123457.0",
        "12345678905",
        '"5901234123457,4012345678901"',
        "5.90123E+12",
        "7",
        "n/a",
        "0",
        "",
    ]
    lines = [f"{n},t,{gtin}\n" for n, gtin in enumerate(gtins)]
    path.write_text("id,title,gtin\n" + "".join(lines))
    figures = import_offers(store, shop, str(path))
    eans = [offer.ean for offer in known(store, shop).values()]
    assert eans[:3] == ["5901234123457", "012345678905", "5901234123457"]
    assert set(eans[3:]) == {None}
    assert figures.reasons == {
        "ean that lost digits in a number format": 1,
        "ean that is no GTIN": 1,
    }
    rows = '{"id": 1, "title": "t", "gtin": 5.901234123457E12}\n{"id": 2, "title": "t", "gtin": 12345678905}\n'
    (tmp_path / "feed.jsonl").write_text(rows)
    import_offers(store, shop, str(tmp_path / "feed.jsonl"))
    eans = [offer.ean for offer in known(store, shop).values()]
    assert eans == ["5901234123457", "012345678905"]


def test_clocks_do_not_decide_what_is_dropped(
    store: Store, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import drops the offers of the one before though the clock was set back, or stands still."""
    now = datetime(2026, 11, 25, tzinfo=UTC)
    for hours in (0, -48, -48, 1):
        monkeypatch.setattr(importing, "utc_now", lambda hours=hours: now + timedelta(hours=hours))
        import_offers(
            store, shop, written(tmp_path, {"id": hours, "title": "t"}, {"id": "x", "title": "t"})
        )
        assert list(known(store, shop)) in ([str(hours), "x"], ["x", str(hours)])
    assert {offer.generation for offer in known(store, shop).values()} == {4}


def test_every_item_is_read_or_refused(store: Store, shop: Shop, tmp_path: Path) -> None:
    """Rows kept and rows refused are together the items that the feed has."""
    items = []
    for number in range(400):
        title = (
            "Mug",
            "for waists <100 cm",
            "a & b",
            "Salt&nbsp;mill",
            "x\x0by",
            "<![CDATA[a<b]]>",
        )[number % 6]
        item = f"<item><g:id>{number}</g:id><title>{title}</title></item>\n"
        if number % 7 == 0:
            item = item.replace("</title>", "")
        if number % 11 == 0:
            item = item.replace("</item>", "")
        items.append(item)
    path = tmp_path / "feed.xml"
    content = f"\n<?xml version='1.0'?><rss><channel>\n{''.join(items)}</channel></rss>"
    path.write_text(content)
    figures = import_offers(store, shop, str(path))
    assert figures.read == figures.kept + figures.bad == content.count("<item>") == 400
    assert figures.bad == sum(number % 7 == 0 or number % 11 == 0 for number in range(400))
    assert {line for line, _, _ in bad_rows(store)} == {
        number + 3 for number in range(400) if number % 7 == 0 or number % 11 == 0
    }


def lost(store: Store) -> dict[str, tuple[str | None, int]]:
    """Title and last generation of the lost offers by their keys."""
    with store.read() as session:
        offers = session.exec(select(LostOffer).where(col(LostOffer.cleared_by).is_(None)))
        return {offer.ref: (offer.title, offer.generation) for offer in offers}


def test_dropped_offers_are_kept_as_lost_until_they_are_back(
    store: Store, shop: Shop, tmp_path: Path
) -> None:
    """An import keeps what it drops, with the time; an offer that is back is lost no more."""
    both = ({"id": "a", "title": "Lamp"}, {"id": "b", "title": "Mug"})
    import_offers(store, shop, written(tmp_path, *both))
    assert lost(store) == {}
    import_offers(store, shop, written(tmp_path, both[0]))
    assert lost(store) == {"b": ("Mug", 1)}
    import_offers(store, shop, written(tmp_path, both[0]))
    assert lost(store) == {"b": ("Mug", 1)}
    import_offers(store, shop, written(tmp_path, both[1]))
    assert lost(store) == {"a": ("Lamp", 3)}
    for _ in range(13):
        import_offers(store, shop, written(tmp_path, both[1]))
    assert lost(store) == {}


LAMP, MUG, VASE = ({"id": ref, "title": ref} for ref in ("lamp", "mug", "vase"))
# Feeds before the import that is undone, and its feed.
UNDONE_IMPORTS = {
    "a lost offer is back": ([[LAMP, MUG], [LAMP]], [LAMP, MUG]),
    "an offer is lost": ([[LAMP, MUG]], [LAMP]),
    "one is back, another lost": ([[LAMP, MUG, VASE], [LAMP, VASE]], [LAMP, MUG]),
    "one is back for a second time": ([[LAMP, MUG], [LAMP], [LAMP, MUG], [LAMP]], [LAMP, MUG]),
    "one is lost for too long": ([[LAMP, MUG], *[[LAMP]] * 12], [LAMP]),
}


@pytest.mark.parametrize(
    ("feeds", "undone"), UNDONE_IMPORTS.values(), ids=list(UNDONE_IMPORTS.keys())
)
def test_an_undone_import_leaves_the_offers_as_they_were(
    store: Store, shop: Shop, tmp_path: Path, feeds: list[Any], undone: list[Any]
) -> None:
    """Known and lost offers are those before an import that was undone, and another can follow."""
    for feed in feeds:
        import_offers(store, shop, written(tmp_path, *feed))
    before = known(store, shop), lost(store)
    import_offers(store, shop, written(tmp_path, *undone))
    after = known(store, shop).keys(), lost(store).keys()
    assert after != (before[0].keys(), before[1].keys())
    undo_last_import(store, shop)
    assert (known(store, shop), lost(store)) == before
    import_offers(store, shop, written(tmp_path, *undone))
    assert (known(store, shop).keys(), lost(store).keys()) == after
