"""Memory: what was compared before is not compared again, and the outcome is that of matching everything at once."""

import json
import random
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from catalog.models import OfferFields
from matcher.features.cache import Memory
from matcher.features.pair_features import OWN, TRENDS
from matcher.match import Found, match
from matcher.model.calibration import Sigmoid
from matcher.model.tree_export import Grown, Taught, forest_of, taught_from


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "matching" / "1.npz"


def opened(file: Path) -> Memory:
    return Memory(file, OWN, len(TRENDS))


def remembered(
    shop: list[OfferFields], known: list[OfferFields], file: Path
) -> tuple[list[Found], Memory]:
    memory = opened(file)
    found = match(shop, known, memory=memory)
    memory.keep()
    return found, memory


def told(
    found: list[Found], offers: list[OfferFields]
) -> dict[str, tuple[str, float, tuple[str, ...]]]:
    return {
        str(offers[one.members[0]].url): (one.verdict, round(one.score, 6), one.reasons)
        for one in found
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_offers_that_come_bit_by_bit(lamps: list[OfferFields], file: Path, seed: int) -> None:
    """New and changed offers in any order, with what earlier matchings left, come out as all of them at once."""
    chance = random.Random(seed)
    known, shop = lamps[5:], chance.sample(lamps, len(lamps))
    stale = [one.model_copy(update={"title": "Lumo spare part"}) for one in shop[:10]]
    _, first = remembered([*stale, *shop[10:24]], known, file)
    chance.shuffle(shop)
    found, memory = remembered(shop, known, file)
    assert told(found, shop) == told(match(lamps, known), lamps)
    assert memory.known > 0
    assert memory.fresh < first.fresh + first.known


def test_nothing_new_costs_nothing(
    lamps: list[OfferFields], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing has changed, no pair is compared and nothing is taught; one new price touches one offer's pairs."""
    first, _ = remembered(lamps, lamps[5:], file)
    monkeypatch.setattr(
        "matcher.scoring.score_pairs.taught", lambda *_: pytest.fail("taught again")
    )
    again, memory = remembered(lamps, lamps[5:], file)
    assert (again, memory.fresh) == (first, 0)
    monkeypatch.undo()
    changed = [lamps[0].model_copy(update={"price": Decimal(1)}), *lamps[1:]]
    _, memory = remembered(changed, lamps[5:], file)
    assert 0 < memory.fresh <= 31 < memory.known


def test_a_kept_judge_tells_what_it_saw(lamps: list[OfferFields], file: Path) -> None:
    """The file names the data that the judge has learnt from, and its scores on what it had not learnt from."""
    remembered(lamps, lamps[5:], file)
    with np.load(file, allow_pickle=False) as kept:
        story = json.loads(kept["said"].tobytes())["story"]
    assert story["known"] == 31
    assert story["pairs"] > 100
    assert 0 <= story["brier"] < 0.2
    assert min(story["precision"], story["recall"]) > 0.8


def spoilt_rows(file: Path) -> None:
    with np.load(file) as kept:
        arrays = dict(kept)
    np.savez(file, **(arrays | {"rows": arrays["rows"] + 1}))


def spoilt_trees(file: Path) -> None:
    with np.load(file) as kept:
        arrays = dict(kept)
    np.savez(
        file,
        **(
            arrays
            | {"node_left": arrays["node_left"] * 0, "node_right": arrays["node_right"] + 1e9}
        ),
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"\x80\x04no pickle"),
        lambda file: file.write_bytes(file.read_bytes()[:-200]),
        lambda file: np.savez(file, said=np.array([{}], dtype=object)),
        spoilt_rows,
        spoilt_trees,
    ],
    ids=["empty", "pickle", "cut", "objects", "other rows", "endless trees"],
)
def test_a_spoilt_memory_counts_for_nothing(
    lamps: list[OfferFields], file: Path, spoil: object
) -> None:
    """A file that is broken, cut, tampered with or of another version changes nothing."""
    expected, _ = remembered(lamps[:9], lamps[5:], file)
    spoil(file)  # type: ignore[operator]
    found, _ = remembered(lamps[:9], lamps[5:], file)
    assert found == expected


def test_kept_trees_judge_alike() -> None:
    """Trees as arrays say what scikit-learn's say, unknown values included."""
    chance = np.random.default_rng(0)
    table = chance.random((600, 5)).astype(np.float32)
    table[chance.random(table.shape) < 0.2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=20).fit(
        table, np.nan_to_num(table[:, 0]) > table[:, 1]
    )
    grown = Taught(Grown(model), Sigmoid(0.7, 0.1))
    assert forest_of(model)(table) == pytest.approx(Grown(model)(table))
    assert taught_from(grown.arrays(), 5, {})(table) == pytest.approx(grown(table))
    with pytest.raises(ValueError, match="features that there are not"):
        taught_from(grown.arrays(), 4, {})
