"""The embedding join, with a small model made on the spot: nothing is downloaded."""

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from catalog.errors import ConfigError
from catalog.runtime.progress import no_progress
from matcher.dedupe.base.records import records_from_texts
from matcher.dedupe.embedding import neighbour_search
from matcher.dedupe.embedding.embeddings import Embeddings
from matcher.dedupe.embedding.encoders import load_encoder
from matcher.dedupe.embedding.neighbour_search import IndexKind, NeighbourSearch
from matcher.dedupe.minhash.minhash import MinHash
from tests.matcher.dedupe.brute_force import pairs_of

WORDS = {
    "[UNK]": (0, 0, 0),
    "sofa": (1, 0, 0),
    "couch": (0.9, 0.1, 0),
    "red": (0, 1, 0),
    "lamp": (0, 0, 1),
}
TEXTS = ["red sofa", "red couch", "lamp", "red sofa", "zzz", "zzz", "lamp lamp"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of five words in three dimensions, saved as model2vec saves its own."""
    library = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("faiss")
    known = tokenizers.models.WordLevel(
        {word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"
    )
    tokenizer = tokenizers.Tokenizer(known)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.array([*WORDS.values()], dtype=np.float32)
    library.StaticModel(vectors, tokenizer).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_neighbours(folder: Path) -> None:
    """Similar and equal texts are found; a text without known words matches only its equals."""
    method = Embeddings(Fraction(9, 10), load_encoder(str(folder)))
    found = pairs_of(method(records_from_texts(TEXTS)))
    assert [*found] == [(0, 1), (0, 3), (1, 3), (2, 6), (4, 5)]
    assert found[0, 1] == pytest.approx(0.994, abs=0.002)
    left, right = records_from_texts(["couch", "zzz"]), records_from_texts(["sofa", "lamp", "zz"])
    assert [*pairs_of(method(left, right))] == [(0, 0)]
    assert len(method(records_from_texts([]))) == 0


def test_candidates(folder: Path) -> None:
    """Of the pairs of a cheaper method only those with similar vectors stay."""
    method = Embeddings(
        Fraction(9, 10), load_encoder(str(folder)), candidates=MinHash(Fraction(1, 4))
    )
    result = method(records_from_texts(["red sofa", "red couch", "red lamp"]))
    assert ([*pairs_of(result)], result.comparisons) == ([(0, 1)], 3)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_many(kind: IndexKind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many vectors are never compared all with all, and nearly all neighbours are found."""
    faiss = pytest.importorskip("faiss")
    monkeypatch.setattr(neighbour_search, "MAX_EXHAUSTIVE", 1000)
    random = np.random.default_rng(0)
    stored = random.normal(size=(3000, 16)).astype(np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    search = NeighbourSearch(4, kind)
    assert not isinstance(search.build_index(stored), faiss.IndexFlat)
    found = search(stored, stored[:300])
    is_itself = found.queries == found.stored
    assert is_itself.sum() == pytest.approx(300, abs=9)
    assert found.cosine.max() == pytest.approx(1)


def test_missing_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that cannot be loaded, and a missing library, are each reported in one line."""

    def not_cached(name: str, **_: object) -> None:
        raise OSError("not in the cache")

    library = pytest.importorskip("model2vec")
    monkeypatch.setattr(library.StaticModel, "from_pretrained", not_cached)
    with pytest.raises(
        ConfigError, match="--model any/one: is neither a folder nor a model that can be downloaded"
    ):
        load_encoder("any/one")
    with pytest.raises(ConfigError, match="is no folder with a model"):
        load_encoder(str(tmp_path))
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(
        ConfigError, match=r"model2vec is not installed: pip install .*\[embeddings\]"
    ):
        load_encoder("any/one")


def test_transformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a neural network is loaded by sentence-transformers, without pickled weights."""
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    calls = list[dict[str, object]]()

    def load(name: str, **options: object) -> SimpleNamespace:
        calls.append({"name": name, **options})
        return SimpleNamespace(encode=_lengths)

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=load)
    )  # type: ignore[arg-type]
    assert load_encoder(str(tmp_path))(["a", "bb"], no_progress).tolist() == [[1, 0], [1, 0]]
    assert calls == [{"name": str(tmp_path), "model_kwargs": {"use_safetensors": True}}]


def _lengths(texts: Sequence[str]) -> list[list[int]]:
    return [[len(text), 0] for text in texts]


def test_no_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sentence-transformers a folder that needs it is refused with an install hint."""
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match="sentence_transformers is not installed"):
        load_encoder(str(tmp_path))
