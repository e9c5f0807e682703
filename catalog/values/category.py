"""Category paths, from general to specific, with any separator.

A breadcrumb begins at the shop's home page, a feed's category does not: words for "home" and for
the whole assortment (`shop_words.toml`) are dropped where more steps follow. Alone they may be a
kind of goods, or a breadcrumb that ends where it begins (`is_home`). Words for "uncategorized" are
dropped everywhere. A single bar or slash may separate two steps or belong to one. It stays in
the text, and is a separator when paths are compared.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from catalog.values import shop_words, text

GAP = text.GAP
SEPARATOR = text.SEPARATOR
# Steps and characters of a path. Longer ones are no categories.
MAX_DEPTH = 20
MAX_LENGTH = 500
# Characters of a raw path: references and white space make it longer. Bound against hostile input.
MAX_RAW_LENGTH = 4 * MAX_LENGTH
# Parts from which bars or slashes are separators.
MIN_SEPARATED_PARTS = 3
# Rounds until a path must be stable. Bound against hostile input.
MAX_ROUNDS = 4

_SEPARATORS = re.compile(rf"{GAP}(?:-?>+|»|›|❯|→)\s*|{GAP}::\s*")
_BAR = re.compile(rf"{GAP}\|\s*")
_SLASH = re.compile(r"(?<!\s)\s++[/\\]\s+")


def normalise_category(raw: str) -> str | None:
    """Normalise a path to steps joined by ` > `. Without separators, each line is a step.

    >>> normalise_category("Home &gt; Garden &gt; Tools / Saws"), normalise_category("Home / Garden / Tools")
    ('Garden > Tools / Saws', 'Garden > Tools')
    >>> normalise_category("Garden\\n  Tools\\n")
    'Garden > Tools'
    """
    if len(raw) > MAX_RAW_LENGTH:
        return None
    return _normalise(raw)


@lru_cache(maxsize=4096)
def _normalise(raw: str) -> str | None:
    steps = _split(raw)
    if len(steps) == 1 and "\n" in raw:
        steps = _split_all(raw.splitlines())
    return _stable_path(steps)


def join_path(parts: Iterable[str]) -> str | None:
    """Join texts to a path; each is a step or a path.

    >>> join_path(["Garden", "Tools > Saws"])
    'Garden > Tools > Saws'
    """
    return _join_all(
        tuple(part for part in islice(parts, MAX_DEPTH) if len(part) <= MAX_RAW_LENGTH)
    )


@lru_cache(maxsize=4096)
def _join_all(parts: tuple[str, ...]) -> str | None:
    return _stable_path(_split_all(parts))


def path_steps(path: str) -> list[str]:
    """Split a normalised path at every possible separator, single bars and slashes included.

    >>> path_steps("Garden > Tools / Saws")
    ['Garden', 'Tools', 'Saws']
    """
    if not path:
        return []
    if "/" not in path and "|" not in path and "\\" not in path:
        return path.split(SEPARATOR)
    steps: list[str] = []
    for part in path.split(SEPARATOR):
        for bar_part in _BAR.split(part):
            steps += [step for step in _SLASH.split(bar_part) if step]
    return steps


def standard_path(path: str) -> str:
    """Return a normalised path with every possible separator written as ` > `.

    >>> standard_path("Garden / Tools")
    'Garden > Tools'
    """
    return SEPARATOR.join(path_steps(path))


def category_key(path: str) -> str:
    """Comparison key: equal for paths that differ in separators, or as texts may differ.

    >>> category_key("Garden / Tools") == category_key("garden > tools")
    True
    """
    return text.text_key(standard_path(path))


def is_home(path: str) -> bool:
    """Return True if a path is only a word for the shop's home page, or for its whole assortment.

    >>> is_home("Home"), is_home("Home Decor")
    (True, False)
    """
    return shop_words.names("home", path) or shop_words.names("assortment", path)


def _split_all(parts: Iterable[str]) -> list[str]:
    steps: list[str] = []
    for part in parts:
        if len(part) <= MAX_RAW_LENGTH:
            steps += _split(part)
    return steps


def _split(raw: str) -> list[str]:
    """Split a path as written.

    Bars and slashes are separators if they make three parts, or follow a word for home.

    >>> _split("Home | Garden"), _split("Hygiene | Masks")
    (['Home', 'Garden'], ['Hygiene | Masks'])
    """
    line = text.without_tags(raw).replace("<", " ")
    steps = _SEPARATORS.split(line)
    for separator in (_BAR, _SLASH):
        parts = separator.split(line)
        is_list = len(parts) >= MIN_SEPARATED_PARTS and len(steps) == 1
        if is_list or (len(parts) > 1 and is_home(parts[0])):
            return [step for part in parts for step in _SEPARATORS.split(part)]
    return steps


def _stable_path(steps: Iterable[str]) -> str | None:
    """Join the steps and split the path again until it stays the same: tags in a step may have
    hidden separators.
    """
    path = _join(steps)
    for _ in range(MAX_ROUNDS):
        if path is None:
            return None
        again = _join(_split(path))
        if again == path:
            # Separators alone are no path.
            return path if path_steps(path) else None
        path = again
    return None


def _join(raw_steps: Iterable[str]) -> str | None:
    steps: list[str] = []
    for raw in raw_steps:
        step = text.normalise_title(raw)
        if step is None or text.is_no_value(step) or shop_words.names("uncategorized", step):
            continue
        if steps and text.text_key(steps[-1]) == text.text_key(step):
            continue
        if len(steps) == 1 and is_home(steps[0]):
            steps.clear()
        steps.append(step)
    path = SEPARATOR.join(steps)
    if not steps or len(steps) > MAX_DEPTH or len(path) > MAX_LENGTH or path.isdigit():
        return None
    return path
