"""Known offers are compared with the index range by range, by the sums of their content keys."""

from collections.abc import Callable

import numpy as np
import pytest
from sqlmodel import Session, col, select

from catalog.models import KnownOffer
from catalog.storage.store import Store
from matcher.known_index import offer_rows
from matcher.known_index.offer_rows import find_changed_ranges, read_content_keys
from matcher.known_index.update import update_index
from tests.matcher.known_index.conftest import CATALOG_SIZE, Import, make_rows, read_index

Change = Callable[[Session, list[KnownOffer]], object]
RANGE = 16
MAX_ID = 2**63 - 1


def _exchange_keys(_: Session, offers: list[KnownOffer]) -> None:
    offers[40].content_key, offers[41].content_key = offers[41].content_key, offers[40].content_key


def _forget_key(_: Session, offers: list[KnownOffer]) -> None:
    offers[-1].content_key = None


@pytest.mark.parametrize(
    ("change", "places"),
    [
        pytest.param(lambda *_: None, [], id="nothing"),
        pytest.param(lambda _, offers: setattr(offers[0], "content_key", 7), [0], id="first"),
        pytest.param(_forget_key, [CATALOG_SIZE - 1], id="last"),
        pytest.param(_exchange_keys, [40, 41], id="exchanged"),
        pytest.param(lambda session, offers: session.delete(offers[0]), [0], id="first gone"),
        pytest.param(lambda session, offers: session.delete(offers[16]), [16], id="bound gone"),
        pytest.param(
            lambda session, offers: [session.delete(offer) for offer in offers],
            range(CATALOG_SIZE),
            id="all gone",
        ),
    ],
)
def test_only_ranges_with_changes_are_read(
    catalog: Store, monkeypatch: pytest.MonkeyPatch, change: Change, places: list[int]
) -> None:
    """Every range without a change is left out, and every change is within a range."""
    monkeypatch.setattr(offer_rows, "_RANGE", RANGE)
    with catalog.read() as session:
        ids, keys = read_content_keys(session, 1, 0, MAX_ID)
    assert len(ids) == CATALOG_SIZE
    with catalog.write() as session:
        query = select(KnownOffer).where(KnownOffer.shop_id == 1).order_by(col(KnownOffer.id))
        change(session, list(session.exec(query)))
    with catalog.read() as session:
        *changed, after = find_changed_ranges(session, 1, ids, keys)
    assert after == (ids[-1] + 1, MAX_ID)
    expected = sorted({place // RANGE for place in places})
    assert [np.searchsorted(ids, first) // RANGE for first, _ in changed] == expected


def test_new_offers_are_in_the_last_range(catalog: Store, import_rows: Import) -> None:
    """An import gives new offers the greatest ids; without known offers, all ids are new."""
    with catalog.read() as session:
        ids, keys = read_content_keys(session, 1, 0, MAX_ID)
        none = np.empty(0, np.int64)
        assert list(find_changed_ranges(session, 1, none, none)) == [(0, MAX_ID)]
    import_rows(make_rows(range(CATALOG_SIZE + 2)))
    with catalog.read() as session:
        (after,) = find_changed_ranges(session, 1, ids, keys)
        new_ids, _ = read_content_keys(session, 1, *after)
    assert len(new_ids) == 2


def test_the_first_offer_of_a_catalog_is_indexed_again(indexed: Store, import_rows: Import) -> None:
    """It was lost once, as a streamed result reads the first row before it is asked for."""
    rows = make_rows()
    rows[0]["title"] = "Vega lantern 996 black"
    import_rows(rows)
    update_index(indexed, 1)
    assert read_index(indexed).documents == CATALOG_SIZE + 1
