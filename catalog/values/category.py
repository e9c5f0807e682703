"""Categories: a path from the general to the special, whatever stands between its steps.

A breadcrumb begins at the shop's front page, a feed's category does not: leading words for "home" are dropped.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from catalog.values import text

SEPARATOR = text.SEPARATOR
DEEPEST, LONGEST = 20, 500
_STEPS = re.compile(r"\s*(?:-?>+|»|›|❯|→)\s*|\s+[/\\]\s+|\s*::\s*")
_BAR, _FEWEST_BETWEEN_BARS = re.compile(r"\s*\|\s*"), 3
_HOME_WORDS = """
home homepage start startseite startpagina hauptseite accueil inicio principal hem forside shop all-categories
"""
_HOME = frozenset(_HOME_WORDS.split())


def normalise(raw: str) -> str | None:
    """The path with its steps joined by ` > `. Where nothing stands between the steps, each line is one.

    >>> normalise("Home &gt; Garden &gt; Tools / Saws"), normalise("Men's/Women's")
    ('Garden > Tools > Saws', "Men's/Women's")
    >>> normalise("Garden\\n  Tools\\n")
    'Garden > Tools'
    """
    return _normalise(raw) if len(raw) <= 4 * LONGEST else None


@lru_cache(maxsize=4096)
def _normalise(raw: str) -> str | None:
    steps = _split(raw)
    if len(steps) == 1 and "\n" in raw:
        steps = [step for line in raw.splitlines() for step in _split(line)]
    return _joined(steps)


def join(steps: Iterable[str]) -> str | None:
    """The path of a list; each of its texts is a step or a path.

    >>> join(["Garden", "Tools > Saws"])
    'Garden > Tools > Saws'
    """
    parts = (part for part in list(steps)[:DEEPEST] if len(part) <= 4 * LONGEST)
    return _joined(step for part in parts for step in _split(part))


def _split(raw: str) -> list[str]:
    """The steps of a path as written. A bar stands between steps where there are three, or where they begin at home.

    >>> _split("Home | Garden"), _split("Hygiene | Masks")
    (['Home', 'Garden'], ['Hygiene | Masks'])
    """
    line = text.untagged(raw).replace("<", " ")
    parts = _BAR.split(line)
    if len(parts) >= _FEWEST_BETWEEN_BARS or (len(parts) > 1 and _is_home(parts[0])):
        return [step for part in parts for step in _STEPS.split(part)]
    return _STEPS.split(line)


def _is_home(step: str) -> bool:
    return step.strip().casefold().replace(" ", "-") in _HOME


def _joined(steps: Iterable[str]) -> str | None:
    """The path of the steps, once it reads as itself: a step may show a separator only when its tags are gone."""
    path = _path(steps)
    for _ in range(4):
        if path is None or (settled := _path(_split(path))) == path:
            return path
        path = settled
    return None


def _path(raw_steps: Iterable[str]) -> str | None:
    steps: list[str] = []
    for raw in raw_steps:
        step = text.title(raw)
        if step is None or text.is_nothing(step) or (steps and text.key(steps[-1]) == text.key(step)):
            continue
        if steps or not _is_home(step):
            steps.append(step)
    path = SEPARATOR.join(steps)
    return path if steps and len(steps) <= DEEPEST and len(path) <= LONGEST and not path.isdigit() else None
