"""The match cache: no pair is compared twice, and results are those of a run without a cache."""

import errno
import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from catalog.models import OfferFields
from matcher.array_types import Floats, Ints
from matcher.features.cache import SAMPLE_SIZE, MatchCache
from matcher.features.table import CACHED_NAMES
from matcher.match import MatchResult, match_offers
from tests.matcher.conftest import make_lamps


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "matching" / "1.npz"


def match_with_cache(
    shop: list[OfferFields], catalog: list[OfferFields], file: Path
) -> tuple[list[MatchResult], MatchCache]:
    cache = MatchCache(file)
    results = match_offers(shop, catalog, cache=cache)
    cache.save()
    return results, cache


def by_url(
    results: list[MatchResult], offers: list[OfferFields]
) -> dict[str, tuple[str, float, tuple[str, ...]]]:
    return {
        str(offers[result.offer].url): (result.verdict, round(result.score, 6), result.reasons)
        for result in results
    }


def test_a_full_disk_keeps_the_former_file(
    lamps: list[OfferFields], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache that cannot be written leaves the former one, and nothing beside it."""
    match_with_cache(lamps, lamps[5:], file)
    former = file.read_bytes()

    def fail(part: IO[bytes], **_arrays: object) -> None:
        part.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="No space left"):
        match_with_cache(lamps, lamps[5:], file)
    assert file.read_bytes() == former
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("seed", [0, 1])
def test_offers_that_come_bit_by_bit(lamps: list[OfferFields], file: Path, seed: int) -> None:
    """New and changed offers in any order, with the cache of earlier runs, match as all at once."""
    generator = random.Random(seed)
    catalog, shop = lamps[5:], generator.sample(lamps, len(lamps))
    stale = [lamp.model_copy(update={"title": "Lumo spare part"}) for lamp in shop[:10]]
    _, first = match_with_cache([*stale, *shop[10:24]], catalog, file)
    generator.shuffle(shop)
    results, cache = match_with_cache(shop, catalog, file)
    assert by_url(results, shop) == by_url(match_offers(lamps, catalog), lamps)
    assert cache.reused > 0
    assert cache.computed < first.computed + first.reused


def test_an_unchanged_shop_costs_nothing(
    lamps: list[OfferFields], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without changes nothing is compared or trained; a new price touches one offer's pairs."""
    first, _ = match_with_cache(lamps, lamps[5:], file)
    monkeypatch.setattr(
        "matcher.scoring.scored_pairs.train_classifier", lambda *_: pytest.fail("trained again")
    )
    again, cache = match_with_cache(lamps, lamps[5:], file)
    assert (again, cache.computed) == (first, 0)
    monkeypatch.undo()
    changed = [lamps[0].model_copy(update={"price": Decimal(1)}), *lamps[1:]]
    _, cache = match_with_cache(changed, lamps[5:], file)
    assert 0 < cache.computed <= 31 < cache.reused


def test_a_stored_classifier_describes_its_training(lamps: list[OfferFields], file: Path) -> None:
    """The file names the training data of the classifier, and its scores on held-out pairs."""
    match_with_cache(lamps, lamps[5:], file)
    with np.load(file, allow_pickle=False) as stored:
        training = json.loads(stored["header"].tobytes())["training"]
    assert training["catalog_offers"] == 31
    assert training["pairs"] > 100
    assert 0 <= training["brier"] < 0.2
    assert min(training["precision"], training["recall"]) > 0.8


@pytest.fixture(scope="module")
def stored_cache(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[list[MatchResult], bytes]:
    """The results of matching some lamps, and the content of the cache file that it wrote."""
    lamps, file = make_lamps(), tmp_path_factory.mktemp("cache") / "1.npz"
    results, _ = match_with_cache(lamps[:9], lamps[5:], file)
    return results, file.read_bytes()


def change_rows(file: Path) -> None:
    with np.load(file) as stored:
        arrays = dict(stored)
    np.savez(file, **(arrays | {"rows": arrays["rows"] + 1}))


def give_points_without_end(file: Path) -> None:
    with np.load(file) as stored:
        arrays = dict(stored)
    np.savez(file, **(arrays | {"points": arrays["points"] + np.inf}))


def rename_a_feature(file: Path) -> None:
    with np.load(file) as stored:
        arrays = dict(stored)
    header = json.loads(arrays["header"].tobytes())
    header["features"][0] = "renamed"
    encoded = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(file, **(arrays | {"header": encoded}))


def change_compression(file: Path) -> None:
    """Name a method that zipfile does not know, in the directory's entry of the first array."""
    content = bytearray(file.read_bytes())
    content[content.find(b"PK\x01\x02") + 10] = 9
    file.write_bytes(content)


def mark_as_encrypted(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[content.find(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"\x80\x04no pickle"),
        lambda file: file.write_bytes(file.read_bytes()[:-200]),
        lambda file: np.savez(file, header=np.array([{}], dtype=object)),
        change_rows,
        give_points_without_end,
        rename_a_feature,
        change_compression,
        mark_as_encrypted,
        lambda file: np.save(file.open("wb"), np.arange(3)),
    ],
    ids=[
        "empty",
        "pickle",
        "cut",
        "objects",
        "other rows",
        "endless points",
        "other features",
        "unknown compression",
        "encrypted",
        "a single array",
    ],
)
def test_a_spoilt_cache_is_ignored(
    lamps: list[OfferFields],
    stored_cache: tuple[list[MatchResult], bytes],
    file: Path,
    spoil: Callable[[Path], None],
) -> None:
    """A file that is broken, cut, tampered with or of another version changes nothing."""
    expected, content = stored_cache
    file.parent.mkdir()
    file.write_bytes(content)
    spoil(file)
    results, _ = match_with_cache(lamps[:9], lamps[5:], file)
    assert results == expected


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 127, 128, 191])
def test_few_pairs_verify_a_file(file: Path, count: int) -> None:
    """At most SAMPLE_SIZE pairs are computed again, and all where there are no more."""
    keys = np.arange(count, dtype=np.uint64)
    computed: list[int] = []

    def compute(positions: Ints) -> Floats:
        computed.extend(positions.tolist())
        return np.zeros((len(positions), len(CACHED_NAMES)), np.float32)

    cache = MatchCache(file)
    cache.look_up(keys, compute)
    cache.save()
    computed.clear()
    MatchCache(file).look_up(keys, compute)
    assert min(count, SAMPLE_SIZE) / 2 <= len(computed) <= SAMPLE_SIZE
