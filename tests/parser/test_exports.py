"""Public names of parser."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import parser


def test_every_public_name_is_importable_and_known_to_type_checkers() -> None:
    """`__all__`, the lazily loaded names and the names under TYPE_CHECKING are the same."""
    tree = ast.parse(inspect.getsource(parser))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.asname for node in imports for alias in node.names if alias.asname}
    assert typed == set(parser.__all__)
    for name in parser.__all__:
        assert getattr(parser, name).__doc__


def test_no_public_name_is_that_of_a_sub_module() -> None:
    """An imported sub-module would replace the function of its name."""
    folder = Path(parser.__file__).parent
    modules = {path.stem for path in folder.iterdir() if not path.name.startswith("_")}
    assert modules.isdisjoint(parser.__all__)


def test_a_sub_module_does_not_load_the_others() -> None:
    """Importing `parser.rules.trim` does not load the page reader."""
    code = "import sys, parser.rules.trim; print('parser.page_reader' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
