"""Fingerprints: they change with everything that a result depends on, and with nothing else."""

from decimal import Decimal

import pytest

from catalog.models import KnownOffer, Run, Shop, Stage, utc_now
from catalog.runtime.code_version import code_version
from catalog.storage.fingerprints import (
    Digest,
    find_fingerprint,
    imports_of_others,
    known_offers_digest,
    store_fingerprint,
)
from catalog.storage.store import Store

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize(
    ("left", "right"),
    [(("ab", "c"), ("a", "bc")), ((1,), ("1",)), ((None,), ("",)), (([1], [2]), ([1, 2],))],
)
def test_different_values_have_different_digests(
    left: tuple[object, ...], right: tuple[object, ...]
) -> None:
    """Values are told apart by their types and where one ends."""
    assert Digest(*left).hexdigest() != Digest(*right).hexdigest()
    assert Digest(*left).hexdigest() == Digest(*left).hexdigest()


def test_code_has_a_version() -> None:
    """Each set of packages has a version of its own, which is the same at every call."""
    assert code_version("parser") == code_version("parser") != code_version("parser", "catalog")


def test_an_import_without_changes_keeps_the_digest(store: Store, shop: Shop) -> None:
    """The digest of the known offers depends on their content, not on the import."""
    with store.write() as session:
        offer = KnownOffer(shop_id=shop.id or 0, ref="1", title="Mug", price=Decimal("5.90"))
        session.add(offer)
    with store.read() as session:
        before = known_offers_digest(session, shop.id or 0)
    with store.write() as session:
        stored = session.get_one(KnownOffer, offer.id)
        stored.generation, stored.imported_at = 7, utc_now()
    with store.read() as session:
        assert known_offers_digest(session, shop.id or 0) == before
        assert imports_of_others(session, 99) == [(shop.id, 7, 1)]
    with store.write() as session:
        session.get_one(KnownOffer, offer.id).price = Decimal("6.90")
    with store.read() as session:
        assert known_offers_digest(session, shop.id or 0) != before


def test_the_newest_run_with_a_fingerprint_is_found(store: Store, shop: Shop) -> None:
    """A result is looked for in the newest runs, also behind one with another fingerprint."""
    with store.write() as session:
        runs = [Run(shop_id=shop.id or 0) for _ in range(3)]
        session.add_all(runs)
        session.flush()
        for run, digest in zip(runs, "aba", strict=True):
            store_fingerprint(session, run.id or 0, Stage.MATCH, digest=digest, matches=run.id)
    with store.read() as session:
        found = [find_fingerprint(session, shop.id or 0, Stage.MATCH, word) for word in "abc"]
        assert find_fingerprint(session, shop.id or 0, Stage.LEARN, "a") is None
    assert [run and run[0] for run in found] == [runs[2].id, runs[1].id, None]
