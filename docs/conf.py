"""Sphinx configuration. `make docs` builds the site into build/docs; warnings are errors.

The reference is generated at each build: one page per package from the docstrings of the names in its `__all__`, and one
page of commands from their help texts.
"""

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))
GENERATED = DOCS / "reference" / "generated"
PACKAGES = (
    "url_cleaner",
    "catalog",
    "crawler",
    "parser",
    "matcher",
    "matcher.dedupe",
    "rules_generator",
    "reports",
)

project = "Scout"
author = "the Scout contributors"
copyright = "2026, the Scout contributors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["reference/generated/README*"]
html_theme = "furo"
html_title = "Scout"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# Docstrings mark code with single backticks.
default_role = "code"
# Nothing is fetched while the site is built.
html_theme_options = {"source_repository": "", "top_of_page_buttons": []}


def write_reference() -> None:
    """Write one page per package and the page of commands."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        path = GENERATED / f"{name}.rst"
        path.write_text(package_page(name), encoding="utf-8")
    from scout.manual import manual

    (GENERATED / "cli.md").write_text(manual(), encoding="utf-8")


def package_page(name: str) -> str:
    """Return the reference page of one package in reStructuredText."""
    package = importlib.import_module(name)
    lines = [name, "=" * len(name), "", inspect.getdoc(package) or "", ""]
    for public in package.__all__:
        lines += entry(public, getattr(package, public))
    return "\n".join(lines)


def entry(public: str, value: Any) -> list[str]:
    """Return the directive that documents one public name."""
    target = f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else ""
    if not target:
        return []
    if inspect.isclass(value):
        members = "" if hasattr(value, "model_fields") else "   :members:"
        return [f".. autoclass:: {target}", members, ""]
    return [f".. autofunction:: {target}", ""]


def setup(app: Any) -> None:
    """Generate the reference before Sphinx reads the sources."""
    write_reference()
