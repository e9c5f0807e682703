"""Categories: a path from the general to the special, whatever stands between its steps.

A breadcrumb begins at the shop's front page, a feed's category does not: words for "home" are dropped where more
follows. Alone they may be a kind of goods, or a breadcrumb that ends where it begins (`is_home`). A single bar or slash
may stand between two steps or within one, and is left where it is; compared, it is taken for the former.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from catalog.values import text

SEPARATOR = text.SEPARATOR
DEEPEST = 20
LONGEST = 500
_STEPS = re.compile(r"\s*(?:-?>+|»|›|❯|→)\s*|\s*::\s*")
_BAR = re.compile(r"\s*\|\s*")
_SLASH = re.compile(r"\s+[/\\]\s+")
_FEWEST_BETWEEN = 3
_HOME_WORDS = """
home homepage start startseite startpagina hauptseite accueil inicio principal hem forside shop all-categories
"""
_HOME = frozenset(_HOME_WORDS.split())


def normalise(raw: str) -> str | None:
    """The path with its steps joined by ` > `. Where nothing stands between the steps, each line is one.

    >>> normalise("Home &gt; Garden &gt; Tools / Saws"), normalise("Home / Garden / Tools")
    ('Garden > Tools / Saws', 'Garden > Tools')
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
    """The steps of a path as written. Bars and slashes are between steps where these are three, or begin at home.

    >>> _split("Home | Garden"), _split("Hygiene | Masks")
    (['Home', 'Garden'], ['Hygiene | Masks'])
    """
    line = text.untagged(raw).replace("<", " ")
    whole = _STEPS.split(line)
    for mark in (_BAR, _SLASH):
        parts = mark.split(line)
        if (len(parts) >= _FEWEST_BETWEEN and len(whole) == 1) or (
            len(parts) > 1 and is_home(parts[0])
        ):
            return [step for part in parts for step in _STEPS.split(part)]
    return whole


def steps(path: str) -> list[str]:
    """The steps of a canonical path, all that may stand between two of them taken for it.

    >>> steps("Garden > Tools / Saws")
    ['Garden', 'Tools', 'Saws']
    """
    if "/" not in path and "|" not in path and "\\" not in path:
        return path.split(SEPARATOR) if path else []
    return [
        step
        for part in path.split(SEPARATOR)
        for bar in _BAR.split(part)
        for step in _SLASH.split(bar)
        if step
    ]


def in_steps(path: str) -> str:
    """A canonical path with all that may stand between two of its steps taken for it.

    >>> in_steps("Garden / Tools")
    'Garden > Tools'
    """
    return SEPARATOR.join(steps(path))


def key(path: str) -> str:
    """Equal for paths that differ in what stands between their steps, and as texts may differ.

    >>> key("Garden / Tools") == key("garden > tools")
    True
    """
    return text.key(in_steps(path))


def is_home(path: str) -> bool:
    """Whether a path is only a word for the shop's front page.

    >>> is_home("Home"), is_home("Home Decor")
    (True, False)
    """
    return path.strip().casefold().replace(" ", "-") in _HOME


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
        if (
            step is None
            or text.is_nothing(step)
            or (steps and text.key(steps[-1]) == text.key(step))
        ):
            continue
        if len(steps) == 1 and is_home(steps[0]):
            steps.clear()
        steps.append(step)
    path = SEPARATOR.join(steps)
    return (
        path
        if steps and len(steps) <= DEEPEST and len(path) <= LONGEST and not path.isdigit()
        else None
    )
