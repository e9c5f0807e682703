"""Errors: the tree in the module's docstring is the tree in the code."""

import inspect
import re

from catalog import errors
from catalog.errors import ScoutError


def drawn() -> dict[str, str | None]:
    """Each error's name and its parent's, as the docstring draws them."""
    above: dict[int, str] = {}
    result: dict[str, str | None] = {}
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"^([│ ]*(?:[├└]── )?)([A-Z]\w+)(?=\s|$)", line):
            depth = len(match[1]) // 4
            if depth == 0 and match[2] != "ScoutError":
                continue
            above[depth] = match[2]
            result[match[2]] = above[depth - 1] if depth else None
    return result


def defined() -> dict[str, type[Exception]]:
    """The errors that the module gives."""
    return {
        name: value
        for name, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, Exception)
    }


def test_the_tree_is_complete() -> None:
    """Every error stands in the drawing once, and the drawing names no other."""
    assert drawn().keys() == defined().keys()


def test_the_tree_is_true() -> None:
    """Each error's parent is the one drawn above it; url_cleaner's own is not below the root."""
    for name, parent in drawn().items():
        bases = [base.__name__ for base in defined()[name].__mro__[1:]]
        if name != "BadUrl":
            assert bases[0] == parent or (parent is None and bases[0] == "Exception")
    assert issubclass(errors.BadUrl, ValueError)


def test_every_error_says_what_it_is() -> None:
    """Each error has a docstring of one line that ends as a sentence."""
    for name, error in defined().items():
        message = (error.__doc__ or "").strip().splitlines()
        assert message, name
        assert message[0].endswith((".", ":")) or ":" in message[0], name


def test_messages_are_one_line() -> None:
    """An error made from a name quotes it, so that it stays on one line."""
    assert "\n" not in str(errors.UnknownShop("two\nlines"))
    assert isinstance(errors.UnknownShop("x"), ScoutError)
