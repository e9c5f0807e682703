"""The word model: labelled pairs show which differing words matter."""

import numpy as np
from scipy import sparse

from catalog.models import OfferFields
from matcher.evaluation.word_model import HASH_WIDTH, fit_word_model, vectorise_word_differences
from matcher.features.table import FEATURES
from matcher.records.record import Record, build_records

TITLES = ["fono a1 red", "fono a2 red", "fono a3 red", "fono a4 red", "fono a5 red", "fono a6 red"]


def titled(*titles: str) -> list[Record]:
    return build_records(OfferFields(title=title) for title in titles)


def test_words_of_a_pair() -> None:
    """Shared and unshared words stand apart; a joined spelling in the other title is shared."""
    shop, catalog = titled("wave 100 lamp black"), titled("wave100 lamp new")
    row = vectorise_word_differences(shop, catalog, np.array([[0, 0]]))
    assert row.shape == (1, 2 * HASH_WIDTH)
    assert (row.indices < HASH_WIDTH).sum() == len({"wave", "100", "black", "new"})
    assert (row.indices >= HASH_WIDTH).sum() == len({"lamp"})


def test_the_model_learns_which_words_matter() -> None:
    """A word by which same offers differ speaks less against a pair than another one."""
    shop = titled(*TITLES)
    same = titled(*(f"{title} boxed" for title in TITLES))
    different = titled(*(f"{title} lite" for title in TITLES))
    pairs = np.array([(n, n) for n in range(len(TITLES))])
    words = sparse.vstack(
        [
            vectorise_word_differences(shop, same, pairs),
            vectorise_word_differences(shop, different, pairs),
        ],
        format="csr",
    )
    table = np.zeros((len(TITLES) * 2, len(FEATURES)), np.float32)
    labels = np.arange(len(TITLES) * 2) < len(TITLES)
    odds = fit_word_model(words, table, labels)(words, table)
    assert odds[labels].min() > 0 > odds[~labels].max()


def test_unseen_words_weigh_nothing() -> None:
    """A word that no labelled pair had changes nothing, and no rows are no error."""
    shop, catalog = titled("a b", "c d"), titled("a b", "c e")
    words = vectorise_word_differences(shop, catalog, np.array([[0, 0], [1, 1]]))
    table = np.zeros((2, len(FEATURES)), np.float32)
    model = fit_word_model(words, table, np.array([True, False]))
    unseen = vectorise_word_differences(titled("x y"), titled("z"), np.array([[0, 0]]))
    assert model(unseen, table[:1])[0] == np.float32(model.intercept)
    assert len(model(words[:0], table[:0])) == 0
