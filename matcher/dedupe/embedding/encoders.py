"""Models that embed texts as vectors: model2vec and sentence-transformers, by folder or by name.

A folder is read as it is. A name is looked up in the library's cache, and downloaded by the library
if it is missing there. No code of a model is run, and no pickled weights are read, because a pickle
can run code.
"""

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.errors import ConfigError, first_line
from catalog.runtime.progress import Progress, no_progress
from matcher.dedupe.base.optional_imports import import_optional

Vectors = NDArray[np.float32]  # a row per text
Encode = Callable[[Sequence[str], Progress], Vectors]
EMBEDDINGS_EXTRA = "embeddings"  # the extra of this distribution that installs the libraries
TEXTS_PER_BATCH = 4096  # texts encoded at once; cap on memory
MIN_VECTOR_LENGTH = 1e-9  # shorter vectors are those of texts without a known word
_LOAD_ERRORS = (OSError, ValueError, KeyError)  # raised by the libraries for a missing model


def load_encoder(name: str) -> Encode:
    """Load a model as a function from texts to unit vectors. Raises ConfigError.

    A text without a known word has the zero vector.
    """
    if _is_transformer(Path(name)):
        return _normalising_encoder(_load_transformer(name))
    try:
        return _normalising_encoder(_load_static_model(name))
    except _LOAD_ERRORS as error:
        if find_spec("sentence_transformers"):
            return _normalising_encoder(_load_transformer(name))
        raise _model_error(name, error) from error


def _is_transformer(folder: Path) -> bool:
    """Return True if a folder holds a neural network, not only a table of word vectors."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return any(str(module["type"]).endswith(".Transformer") for module in modules)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _load_static_model(name: str) -> Any:
    library = import_optional("model2vec", EMBEDDINGS_EXTRA)
    return library.StaticModel.from_pretrained(name, force_download=False).encode


def _load_transformer(name: str) -> Any:
    library = import_optional("sentence_transformers", "transformers")
    try:
        return library.SentenceTransformer(name, model_kwargs={"use_safetensors": True}).encode
    except _LOAD_ERRORS as error:
        raise _model_error(name, error) from error


def _model_error(name: str, error: Exception) -> ConfigError:
    if isinstance(error, ConfigError):
        return error
    problem = "is neither a folder nor a model that can be downloaded by that name"
    if Path(name).exists():
        problem = "is no folder with a model"
    return ConfigError(
        f"--model {name}: {problem} ({first_line(error)}); save the model to a folder and name that"
    )


def _normalising_encoder(encode: Any) -> Encode:
    """Wrap a model's function to encode in batches and to return unit vectors."""

    def encode_normalised(texts: Sequence[str], progress: Progress = no_progress) -> Vectors:
        batches = list[Vectors]()
        # Without texts one is encoded all the same, because its vector tells the dimension.
        for start in range(0, max(1, len(texts)), TEXTS_PER_BATCH):
            batch = [_replace_surrogates(text) for text in texts[start : start + TEXTS_PER_BATCH]]
            vectors = np.asarray(encode(batch or [""]), dtype=np.float32)
            batches.append(vectors[: len(batch)])
            progress("texts embedded", min(start + TEXTS_PER_BATCH, len(texts)), len(texts))
        vectors = np.concatenate(batches)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit_vectors: Vectors = np.divide(
            vectors, lengths, out=np.zeros_like(vectors), where=lengths > MIN_VECTOR_LENGTH
        )
        return unit_vectors

    return encode_normalised


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which tokenizers reject."""
    return text.encode("utf-8", "replace").decode()
