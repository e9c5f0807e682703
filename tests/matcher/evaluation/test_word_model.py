"""Which words matter is learnt from labelled pairs."""

import numpy as np
from scipy import sparse

from catalog.models import OfferFields
from matcher.evaluation.word_model import COLUMNS, weigher, wording
from matcher.features.pair_features import TRENDS
from matcher.records.record import records

TITLES = ["fono a1 red", "fono a2 red", "fono a3 red", "fono a4 red", "fono a5 red", "fono a6 red"]


def test_words_of_a_pair() -> None:
    """Words of both titles stand apart from those of one, and a joined spelling of the other's is not one's own."""
    shop, known = (
        records([OfferFields(title=title)]) for title in ("wave 100 lamp black", "wave100 lamp new")
    )
    row = wording(shop, known, np.array([[0, 0]]))
    assert row.shape == (1, 2 * COLUMNS)
    assert (row.indices < COLUMNS).sum() == len({"wave", "100", "black", "new"})
    assert (row.indices >= COLUMNS).sum() == len({"lamp"})


def test_what_matters_is_learnt() -> None:
    """A word by which the same things differ speaks less against a pair than one by which only others differ."""
    shop = records(OfferFields(title=title) for title in TITLES)
    same = records(OfferFields(title=f"{title} boxed") for title in TITLES)
    other = records(OfferFields(title=f"{title} lite") for title in TITLES)
    pairs = np.array([(n, n) for n in range(len(TITLES))])
    words = sparse.vstack([wording(shop, same, pairs), wording(shop, other, pairs)], format="csr")
    table = np.zeros((len(TITLES) * 2, len(TRENDS)), np.float32)
    truth = np.arange(len(TITLES) * 2) < len(TITLES)
    odds = weigher(words, table, truth)(words, table)
    assert odds[truth].min() > 0 > odds[~truth].max()


def test_words_never_seen() -> None:
    """A word that no labelled pair had moves nothing, and nothing to compare is no error."""
    shop, known = (
        records(OfferFields(title=title) for title in side)
        for side in (("a b", "c d"), ("a b", "c e"))
    )
    words, table = (
        wording(shop, known, np.array([[0, 0], [1, 1]])),
        np.zeros((2, len(TRENDS)), np.float32),
    )
    learnt = weigher(words, table, np.array([True, False]))
    strange = wording(
        records([OfferFields(title="x y")]), records([OfferFields(title="z")]), np.array([[0, 0]])
    )
    assert learnt(strange, table[:1])[0] == np.float32(learnt.base)
    assert len(learnt(words[:0], table[:0])) == 0
