"""Folders of the corpus: an input as shops send it, and the result that is right."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from catalog.runtime.limits.processor_time import ProcessorTimeLimit

FIELD = Path(__file__).parent
# Seconds of processor time that one input may take on any machine.
MAX_SECONDS = 10


@dataclass(frozen=True)
class FieldCase:
    """An input and its expected result."""

    folder: Path
    path: Path
    expected: dict[str, Any]

    @property
    def content(self) -> bytes:
        """The input as bytes."""
        return self.path.read_bytes()

    @property
    def lines(self) -> list[str]:
        """The input's lines, each of which is an input of its own."""
        return self.path.read_text("utf-8").split("\n")[:-1]


def each_case(kind: str) -> pytest.MarkDecorator:
    """Run a test on all folders of a kind, as the argument `case`."""
    cases = [_read_case(folder) for folder in sorted((FIELD / kind).iterdir())]
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.folder.name)


def limited_time() -> ProcessorTimeLimit:
    """Return a limit on the processor time of one input."""
    return ProcessorTimeLimit(MAX_SECONDS)


def _read_case(folder: Path) -> FieldCase:
    (path,) = folder.glob("input.*")
    return FieldCase(folder, path, json.loads((folder / "expected.json").read_text("utf-8")))
