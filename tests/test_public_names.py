"""The public names of each package: what library users, scripts and documents may rely on."""

import ast
import importlib
import inspect
import subprocess
import sys

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
# Package and the names that it loads on first use only.
LAZY_PACKAGES = ("catalog", "crawler", "parser", "reports", "rules_generator", "url_cleaner")
# A light module, and a heavy one that importing the light one must not load.
CHEAP_IMPORTS = (
    ("catalog.errors", "sqlalchemy"),
    ("crawler.config", "scrapy"),
    ("parser.rules.trim", "parser.page_reader"),
    ("reports.causes.config", "reports.model.report_model"),
    ("rules_generator.config", "rules_generator.induction.inducer"),
    ("url_cleaner.errors", "url_cleaner.cleaner"),
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


@pytest.mark.parametrize("package", LAZY_PACKAGES)
def test_type_checkers_see_the_names_that_are_loaded_on_first_use(package: str) -> None:
    """The names that a package imports under TYPE_CHECKING are those of its `__all__`."""
    module = importlib.import_module(package)
    imported = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom):
            imported |= {alias.asname for alias in node.names if alias.asname}
    assert imported == set(module.__all__)


@pytest.mark.parametrize(("light", "heavy"), CHEAP_IMPORTS)
def test_importing_a_light_module_does_not_load_heavy_modules(light: str, heavy: str) -> None:
    """Importing one module of a package leaves the package's other modules alone."""
    code = f"import sys, {light}; print({heavy!r} in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "False"
