"""Public names of the package."""

import ast
import inspect
import subprocess
import sys

import reports


def test_every_public_name_can_be_imported_and_is_known_to_type_checkers() -> None:
    """`__all__`, the lazily loaded names and the names under TYPE_CHECKING are the same."""
    tree = ast.parse(inspect.getsource(reports))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {alias.asname for node in imports for alias in node.names if alias.asname}
    assert typed == set(reports.__all__)
    for name in reports.__all__:
        assert getattr(reports, name).__name__ == name
        assert getattr(reports, name).__doc__


def test_importing_a_sub_module_does_not_import_the_others() -> None:
    """The package loads its public names on first use only."""
    code = "import sys, reports.causes.config; print('reports.model.report_model' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
