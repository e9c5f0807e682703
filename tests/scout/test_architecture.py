"""The house itself: imports only go down, and no module needs itself."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    "catalog",
    "crawler",
    "matcher",
    "parser",
    "reports",
    "rules_generator",
    "scout",
    "url_cleaner",
)


def test_floors() -> None:
    """Import-linter finds every import going down."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_no_circles() -> None:
    """No module imports, by whichever way round, itself while it is being imported."""
    paths = dict(_modules())
    known = {name: set(_imports(path, paths.keys())) & paths.keys() for name, path in paths.items()}
    while leaves := {name for name, needed in known.items() if not needed}:
        known = {name: needed - leaves for name, needed in known.items() if name not in leaves}
    assert known == {}


@pytest.mark.parametrize("room", ROOMS)
def test_names(room: str) -> None:
    """No room is named like a module of the standard library, and each says in a docstring what it is."""
    package = ROOT / room / "__init__.py"
    assert ast.get_docstring(ast.parse(package.read_text(encoding="utf-8")))
    assert room not in sys.stdlib_module_names


def _modules() -> Iterator[tuple[str, Path]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "versions" not in path.parts:
                parts = path.relative_to(ROOT).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _imports(path: Path, modules: Set[str]) -> Iterator[str]:
    for node in _at_import(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & modules or {node.module}


def _at_import(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are carried out when the module is: not those in functions, not those for type checkers."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
            yield from _at_import([*node.body, *node.orelse])
        elif isinstance(node, ast.Try | ast.With | ast.ClassDef):
            yield from _at_import(node.body)
