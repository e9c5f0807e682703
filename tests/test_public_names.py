"""The public names of each package: what library users, scripts and documents may rely on."""

import importlib

import pytest

PACKAGES = (
    "catalog",
    "crawler",
    "matcher",
    "matcher.dedupe",
    "parser",
    "reports",
    "rules_generator",
    "scout",
    "url_cleaner",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_exist_and_are_documented(package: str) -> None:
    """Every name in a package's `__all__` can be imported from it and has a docstring."""
    module = importlib.import_module(package)
    assert module.__all__
    undocumented = [name for name in module.__all__ if not getattr(module, name).__doc__]
    assert undocumented == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_has_the_name_of_its_module(package: str) -> None:
    """`from package import name` never gives a module for a public name."""
    module = importlib.import_module(package)
    clashes = [
        name
        for name in module.__all__
        if getattr(module, name).__module__.rpartition(".")[2] == name
    ]
    assert clashes == []
