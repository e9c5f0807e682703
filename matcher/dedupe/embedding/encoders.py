"""Models that make a vector of a text: those of model2vec and of sentence-transformers, by folder or by name.

A folder is read as it is; a name is looked for among what these libraries have fetched before, and fetched by them
where it is not there. No code of a model is run, and no weights are read that a pickle could hide code in.
"""

import json
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.errors import ConfigError
from catalog.runtime.progress import Progress, silent
from matcher.dedupe.base.optional import optional

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str], Progress], Vectors]
EXTRA = "embeddings"
AT_ONCE = 4096
_LOST = (OSError, ValueError, KeyError)


def model(name: str) -> Encode:
    """What makes vectors of length 1 (or 0, of a text without a known word). Raises ConfigError."""
    if _is_transformer(Path(name)):
        return _encoding(_transformer(name))
    try:
        return _encoding(_static(name))
    except _LOST as error:
        if find_spec("sentence_transformers"):
            return _encoding(_transformer(name))
        raise _refused(name, error) from error


def _is_transformer(folder: Path) -> bool:
    """Whether a folder holds a model with a network in it, and not only a table of words' vectors."""
    try:
        steps = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return any(str(step["type"]).endswith(".Transformer") for step in steps)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def _static(name: str) -> Any:
    return (
        optional("model2vec", EXTRA).StaticModel.from_pretrained(name, force_download=False).encode
    )


def _transformer(name: str) -> Any:
    library = optional("sentence_transformers", "transformers")
    try:
        return library.SentenceTransformer(name, model_kwargs={"use_safetensors": True}).encode
    except _LOST as error:
        raise _refused(name, error) from error


def _refused(name: str, error: Exception) -> ConfigError:
    if isinstance(error, ConfigError):
        return error
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    what = (
        "is no folder with a model"
        if Path(name).exists()
        else "is neither a folder nor to be had by that name"
    )
    return ConfigError(
        f"--model {name}: {what} ({reason}); save the model to a folder and name that"
    )


def _encoding(encode: Any) -> Encode:
    def encoded(texts: Sequence[str], progress: Progress = silent) -> Vectors:
        found = list[Vectors]()
        for start in range(0, max(1, len(texts)), AT_ONCE):
            part = [
                text.encode("utf-8", "replace").decode() for text in texts[start : start + AT_ONCE]
            ]
            found.append(np.asarray(encode(part or [""]), dtype=np.float32)[: len(part)])
            progress("texts embedded", min(start + AT_ONCE, len(texts)), len(texts))
        vectors = np.concatenate(found)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: Vectors = np.divide(
            vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-9
        )
        return scaled

    return encoded
