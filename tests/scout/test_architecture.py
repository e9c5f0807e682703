"""The architecture: packages, layers and modules, as docs and pyproject.toml state them."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "catalog",
    "crawler",
    "matcher",
    "parser",
    "reports",
    "rules_generator",
    "scout",
    "url_cleaner",
)
MAX_MODULES = 15
"""Modules in one folder: more are no longer taken in at a glance."""


def test_layers() -> None:
    """Imports only go down the layers, between packages and inside each (import-linter)."""
    linter = Path(sys.executable).with_name("lint-imports")
    process = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout


def test_no_import_cycles() -> None:
    """No module imports itself while it is being imported, directly or through others."""
    paths = dict(_modules())
    imports = {
        name: set(_imports(path, paths.keys())) & paths.keys() for name, path in paths.items()
    }
    # Modules without imports of their own are removed until none is left; a cycle never is.
    while leaves := {name for name, imported in imports.items() if not imported}:
        imports = {
            name: imported - leaves for name, imported in imports.items() if name not in leaves
        }
    assert imports == {}


def test_folder_size() -> None:
    """No folder of a package holds more than 15 modules."""
    counts = Counter(path.parent for _, path in _modules() if path.name != "__init__.py")
    too_large = {folder: count for folder, count in counts.items() if count > MAX_MODULES}
    assert too_large == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_package_name(package: str) -> None:
    """No package has the name of a module of the standard library."""
    assert package not in sys.stdlib_module_names


def test_docstrings() -> None:
    """Every package, sub-package and module has a docstring."""
    without = []
    for name, path in _modules():
        if not ast.get_docstring(_parse(path)):
            without.append(name)
    assert without == []


def _modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            # Migrations are scripts in a folder that only grows.
            if "versions" not in path.parts:
                parts = path.relative_to(ROOT).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(path: Path, modules: Set[str]) -> Iterator[str]:
    """Yield the modules that a module imports.

    The package where the imported names are not modules.
    """
    for node in _executed_imports(_parse(path).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from submodules & modules or {node.module}


def _executed_imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports executed at import time: none in functions, none for type checkers."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
            yield from _executed_imports([*node.body, *node.orelse])
        elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
            yield from _executed_imports(node.body)
