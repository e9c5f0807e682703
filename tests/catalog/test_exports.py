"""Public names of catalog."""

import ast
import inspect
import subprocess
import sys

import catalog


def test_every_public_name_is_importable_and_known_to_type_checkers() -> None:
    """`__all__`, the lazily loaded names and the names under TYPE_CHECKING are the same."""
    tree = ast.parse(inspect.getsource(catalog))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.asname for node in imports for alias in node.names if alias.asname}
    assert typed == set(catalog.__all__)
    for name in catalog.__all__:
        exported = getattr(catalog, name)
        assert exported.__name__ == name
        assert exported.__doc__


def test_a_sub_module_does_not_load_the_others() -> None:
    """Importing `catalog.errors` loads no database."""
    code = "import sys, catalog.errors; print('sqlalchemy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
