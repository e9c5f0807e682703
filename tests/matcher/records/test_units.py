"""The parts: texts in one form, links compared, assignments one to one, candidates complete."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import OfferFields
from matcher.blocking.candidates import candidates
from matcher.blocking.vectors import space
from matcher.features.pair_features import TRENDS, features
from matcher.match_job import with_own_urls
from matcher.records.record import records
from matcher.records.text import fold, joined, tokens
from matcher.records.units import quantify
from matcher.records.url_keys import address
from matcher.scoring.assignment import assign
from matcher.training.synthetic_pairs import MOST_OFFERS, rehearsals


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,5 l", "1500 ml"),
        ("0.75 kg", "750g"),
        ("2 TB", "2000 gb"),
        ("set of 2", "2 pieces"),
        ("6er-Pack", "pack of 6"),
        ("10 cm", "100mm"),
        ("1,500 ml", "1.5 L"),
        ('6.1"', "6.1 Zoll"),
        ("Crème", "CREME"),
    ],
)
def test_one_form(one: str, other: str) -> None:
    """Two spellings of one quantity or word give the same tokens."""
    assert tokens(fold(one)) == tokens(fold(other))


@pytest.mark.parametrize("text", ["5 in 1 tool", "a12s", "wh-1000xm4", "v60", "no 5"])
def test_no_quantity(text: str) -> None:
    """What only looks like a quantity is left as it is."""
    assert quantify(text) == text


@given(st.text())
def test_any_text_has_tokens(text: str) -> None:
    """Folding and cutting never fail, fold again to the same, and stay within their caps."""
    folded = fold(text)
    assert fold(folded) == folded
    assert len(folded) <= 300
    assert len(tokens(folded)) <= 64
    assert all(len(word) <= 32 for word in joined(tokens(folded)))


@given(st.text())
def test_any_text_is_an_address_or_none(text: str) -> None:
    """No link, however broken, raises."""
    assert address(f"http://{text}").whole is not None


@given(
    st.dictionaries(st.tuples(st.integers(0, 8), st.integers(0, 8)), st.floats(-2, 9), max_size=30)
)
def test_assignment_is_one_to_one_and_no_worse_than_greedy(
    weights: dict[tuple[int, int], float],
) -> None:
    """Each side's offer is used once, only by pairs of positive weight, with no less than greed would reach."""
    pairs, weight = (
        np.array([*weights], dtype=np.int64).reshape(-1, 2),
        np.array([*weights.values()], dtype=np.float64),
    )
    chosen = assign(pairs, weight)
    assert all(weight[chosen] > 0)
    assert len({*pairs[chosen, 0].tolist()}) == len({*pairs[chosen, 1].tolist()}) == len(chosen)
    left: set[int] = set()
    right: set[int] = set()
    greedy = 0.0
    for (i, j), value in sorted(weights.items(), key=lambda item: -item[1]):
        if value > 0 and i not in left and j not in right:
            left.add(i)
            right.add(j)
            greedy += value
    assert weight[chosen].sum() >= greedy - 1e-9


def test_candidates_hold_every_twin(lamps: list[OfferFields]) -> None:
    """Every offer's own copy is among its candidates, and each pair has one row of features without infinities."""
    both = records(lamps)
    vectors = space(both, both)
    pairs = candidates(both, both, vectors)
    assert {(n, n) for n in range(len(both))} <= {tuple(pair) for pair in pairs.tolist()}
    table = features(both, both, vectors, pairs)
    assert table.shape == (len(pairs), len(TRENDS))
    assert not np.isinf(table).any()


def test_rehearsals_are_always_the_same(lamps: list[OfferFields]) -> None:
    """Rehearsals use no chance that is not seeded, hold some offers back and keep each page's truth."""
    known = records(lamps)
    first, second = list(rehearsals(known, {})), list(rehearsals(known, {}))
    assert first == second
    assert all(None in one.truth and any(row is not None for row in one.truth) for one in first)
    assert all(
        one.known[row].address == page.address
        for one in first
        for page, row in zip(one.shop, one.truth, strict=True)
        if row is not None
    )


def test_rivals_rehearse_together() -> None:
    """Of a catalog too large to play whole each round has offers with their nearest siblings, and no more than fit."""
    known = records(
        [
            OfferFields(title=f"{name} lamp {size} lm")
            for name in map(str, range(1000, 1500))
            for size in (10, 20)
        ]
    )
    for one in rehearsals(known, {}):
        names = Counter(record.title.split()[0] for record in one.known)
        assert len(one.known) <= MOST_OFFERS
        assert sum(count == 2 for count in names.values()) > len(names) / 3


@pytest.mark.parametrize(
    ("told", "paths", "kept"),
    [
        ([{"title": "Red lamp"}, {"title": "Garden chair"}], ("/p/1", "/p/2"), False),
        ([{"title": "Lamp red"}, {"title": "Lamp blue"}], ("/p/1", "/p/2"), True),
        ([{"title": "Red lamp"}, {"title": "Garden chair"}], ("/lamps?id=1", "/lamps?id=2"), False),
        (
            [{"title": "Lamp red", "sku": "1"}, {"title": "Lamp blue", "sku": "2"}],
            ("/p/1", "/p/2"),
            False,
        ),
        (
            [{"title": "Lamp red", "sku": "1"}, {"title": "Lamp blue", "sku": "2"}],
            ("/lamps", "/p/2"),
            True,
        ),
        (
            [{"title": "Lamp red", "sku": "1"}, {"title": "Lamp", "sku": "2"}],
            ("/lamps?variant=1", "/lamps?a=b"),
            True,
        ),
        (
            [{"title": "Lamp", "ean": "1", "sku": "1"}, {"title": "Lamp", "ean": "1"}],
            ("/a/lamp", "/b/lamp"),
            True,
        ),
    ],
    ids=[
        "unrelated",
        "alike",
        "by query",
        "other skus",
        "one stands there",
        "variants by query",
        "one offer",
    ],
)
def test_a_canonical_link_that_pages_share(
    told: list[dict[str, str]], paths: tuple[str, str], kept: bool
) -> None:
    """Different offers that claim one canonical address are put back to their own pages; variants keep theirs."""
    shelf = "https://shop.example/lamps"
    offers = [OfferFields(url=shelf, **fields) for fields in told]
    pages = [f"https://shop.example{path}" for path in paths]
    assert [one.url for one in with_own_urls(offers, pages)] == ([shelf, shelf] if kept else pages)
