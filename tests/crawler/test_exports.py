"""Public names of crawler."""

import ast
import inspect
import subprocess
import sys

import crawler


def test_every_public_name_is_importable_and_known_to_type_checkers() -> None:
    """`__all__`, the lazily loaded names and the names under TYPE_CHECKING are the same."""
    tree = ast.parse(inspect.getsource(crawler))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.asname for node in imports for alias in node.names if alias.asname}
    assert typed == set(crawler.__all__)
    for name in crawler.__all__:
        exported = getattr(crawler, name)
        assert exported.__name__ == name
        assert exported.__doc__


def test_importing_the_package_is_cheap() -> None:
    """Importing `crawler` and its configuration does not load Scrapy."""
    code = "import sys, crawler.config; print('scrapy' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "False"
