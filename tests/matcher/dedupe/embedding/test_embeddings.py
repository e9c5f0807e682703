"""The rung of embeddings, on a small model of its own: nothing is fetched from anywhere."""

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from catalog.errors import ConfigError
from catalog.runtime.progress import silent
from matcher.dedupe.base.records import of_texts
from matcher.dedupe.embedding import encoders
from matcher.dedupe.embedding import neighbours as module
from matcher.dedupe.embedding.embeddings import Embeddings
from matcher.dedupe.embedding.encoders import model
from matcher.dedupe.embedding.neighbours import Neighbours
from matcher.dedupe.minhash.minhash import MinHash
from tests.matcher.dedupe.brute import pairs_of

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
    """Texts that mean alike are found, equal ones too, and what the model knows no word of is like nothing else."""
    rung = Embeddings(Fraction(9, 10), model(str(folder)))
    found = pairs_of(rung(of_texts(TEXTS)))
    assert [*found] == [(0, 1), (0, 3), (1, 3), (2, 6), (4, 5)]
    assert found[0, 1] == pytest.approx(0.994, abs=0.002)
    assert [*pairs_of(rung(of_texts(["couch", "zzz"]), of_texts(["sofa", "lamp", "zz"])))] == [
        (0, 0)
    ]
    assert len(rung(of_texts([]))) == 0


def test_candidates(folder: Path) -> None:
    """Of a cheaper rung's pairs only those stay that the model finds alike."""
    rung = Embeddings(Fraction(9, 10), model(str(folder)), among=MinHash(Fraction(1, 4)))
    found = rung(of_texts(["red sofa", "red couch", "red lamp"]))
    assert ([*pairs_of(found)], found.comparisons) == ([(0, 1)], 3)


@pytest.mark.parametrize("search", ["ivf", "hnsw"])
def test_many(search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among many, vectors are never compared all with all, and nearly all near ones are found."""
    faiss = pytest.importorskip("faiss")
    monkeypatch.setattr(module, "FEW", 1000)
    random = np.random.default_rng(0)
    stored = random.normal(size=(3000, 16)).astype(np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    index = Neighbours(4, search).index(stored)
    assert not isinstance(index, faiss.IndexFlat)
    asked, near, cosine = Neighbours(4, search)(stored, stored[:300])
    assert (near[asked == near].size, cosine.max()) == (pytest.approx(300, abs=9), pytest.approx(1))


def test_name(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is not to be had, and a library that is not there, are each told in one line."""

    def lost(name: str, **_: object) -> None:
        raise OSError("not in the cache")

    library = pytest.importorskip("model2vec")
    monkeypatch.setattr(library.StaticModel, "from_pretrained", lost)
    with pytest.raises(
        ConfigError, match="--model any/one: is neither a folder nor to be had by that name"
    ):
        model("any/one")
    with pytest.raises(ConfigError, match="is no folder with a model"):
        model(str(tmp_path))
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(
        ConfigError, match=r"model2vec is not installed: pip install .*\[embeddings\]"
    ):
        model("any/one")


def test_transformer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a network in it is given to sentence-transformers, which may read no pickle."""
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    asked = list[dict[str, object]]()

    def made(name: str, **options: object) -> SimpleNamespace:
        asked.append({"name": name, **options})
        return SimpleNamespace(encode=_lengths)

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=made)
    )  # type: ignore[arg-type]
    assert model(str(tmp_path))(["a", "bb"], silent).tolist() == [[1, 0], [1, 0]]
    assert asked == [{"name": str(tmp_path), "model_kwargs": {"use_safetensors": True}}]


def _lengths(texts: Sequence[str]) -> list[list[int]]:
    return [[len(text), 0] for text in texts]


def test_no_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sentence-transformers a folder that needs it is refused with what to install."""
    (tmp_path / "modules.json").write_text('[{"type": "sentence_transformers.models.Transformer"}]')
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match="sentence_transformers is not installed"):
        encoders.model(str(tmp_path))
