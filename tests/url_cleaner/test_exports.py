"""Public names of url_cleaner."""

import ast
import inspect
import subprocess
import sys

import url_cleaner


def test_every_public_name_is_importable_and_known_to_type_checkers() -> None:
    """`__all__`, the lazily loaded names and the names under TYPE_CHECKING are the same."""
    tree = ast.parse(inspect.getsource(url_cleaner))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.asname for node in imports for alias in node.names if alias.asname}
    assert typed == set(url_cleaner.__all__)
    for name in url_cleaner.__all__:
        exported = getattr(url_cleaner, name)
        assert exported.__name__ == name
        assert exported.__doc__


def test_a_sub_module_does_not_load_the_others() -> None:
    """Importing `url_cleaner.errors` does not load the cleaner."""
    code = "import sys, url_cleaner.errors; print('url_cleaner.cleaner' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
