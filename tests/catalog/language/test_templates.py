"""Templates are compiled once in a process, whatever the language they are written in."""

import pytest
from jinja2 import DictLoader, Environment

from catalog.language.languages import ENGLISH, load_language
from catalog.language.templates import CompiledTemplates, template_environment


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the templates that are compiled from now on."""
    monkeypatch.setattr("catalog.language.templates._COMPILED", CompiledTemplates())
    names: list[str] = []
    compile_source = Environment.compile

    def compile_noted(
        self: Environment, source: str, name: str | None = None, filename: str | None = None
    ) -> object:
        names.append(name or "")
        return compile_source(self, source, name, filename)

    monkeypatch.setattr(Environment, "compile", compile_noted)
    return names


def test_languages_share_compiled_templates(compiled: list[str]) -> None:
    """A template is compiled once, and each language has its own words in it."""
    for language, text in ((ENGLISH, "Missing"), (load_language("de"), "Fehlend")) * 2:
        environment = template_environment("reports", language)
        environment.loader = DictLoader({"page.html": "{{ _('Missing') }}"})
        assert environment.get_template("page.html").render() == text
    assert compiled == ["page.html"]


def test_a_changed_template_is_compiled_again(compiled: list[str]) -> None:
    """Compiled code belongs to one text of a template."""
    for text in ("one", "one", "two"):
        environment = template_environment("reports", ENGLISH)
        environment.loader = DictLoader({"page.html": text})
        assert environment.get_template("page.html").render() == text
    assert compiled == ["page.html", "page.html"]
