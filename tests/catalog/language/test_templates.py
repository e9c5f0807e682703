"""Templates are compiled once, whatever the language they are written in and the process."""

import marshal
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from catalog.language.languages import ENGLISH, load_language
from catalog.language.templates import CompiledTemplates, template_environment


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return the names of the templates that are compiled from now on."""
    start_process(monkeypatch, tmp_path)
    names: list[str] = []
    compile_source = Environment.compile

    def compile_noted(
        self: Environment, source: str, name: str | None = None, filename: str | None = None
    ) -> object:
        names.append(name or "")
        return compile_source(self, source, name, filename)

    monkeypatch.setattr(Environment, "compile", compile_noted)
    return names


def start_process(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let templates be compiled as by a new process."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("catalog.language.templates._COMPILED", CompiledTemplates(folder))


def render(text: str) -> str:
    """Render a template with a text of its own."""
    environment = template_environment("reports", ENGLISH)
    environment.loader = DictLoader({"page.html": text})
    return environment.get_template("page.html").render()


LINKS = [
    ("https://shop.example/p/1", True),
    ("HTTP://shop.example", True),
    ("javascript:alert(1)", False),
    (" java\nscript:alert(1)", False),
    ("data:text/html,x", False),
    ("//shop.example", False),
    ("https:///p", False),
    ("http://[", False),
    ("", False),
    (None, False),
]


@pytest.mark.parametrize("package", ["reports", "scout.web"])
@pytest.mark.parametrize(("url", "is_safe"), LINKS)
def test_links_to_the_web_only(package: str, url: str | None, is_safe: bool) -> None:
    """Templates of reports and of web pages link to http and https with a host, to nothing else."""
    environment = template_environment(package, ENGLISH)
    link = environment.from_string("{{ url|safe_link }}").render(url=url)
    assert link == str(url if is_safe else None)


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
        assert render(text) == text
    assert compiled == ["page.html", "page.html"]


def test_the_next_process_finds_compiled_templates(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are compiled again only where their text has changed, or Jinja's version."""
    for text in ("one", "one", "two"):
        start_process(monkeypatch, tmp_path)
        assert render(text) == text
    assert compiled == ["page.html"] * 2
    monkeypatch.setattr("catalog.language.templates.version", lambda _: "99.0")
    start_process(monkeypatch, tmp_path)
    assert render("two") == "two"
    assert compiled == ["page.html"] * 3


@pytest.mark.parametrize("content", [b"", b"broken", b"j2"])
def test_a_broken_file_is_replaced(
    content: bytes, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A power cut may leave anything of a file."""
    render("one")
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o644
    whole = file.read_bytes()
    # The header is that of the file, but a number is no code.
    header = whole[: whole.index(b"\xe3")]
    for damaged in (content, whole[:-20], whole[:30], header + marshal.dumps(5)):
        file.write_bytes(damaged)
        start_process(monkeypatch, tmp_path)
        assert render("one") == "one"
    start_process(monkeypatch, tmp_path)
    assert render("one") == "one"
    assert compiled == ["page.html"] * 5


def test_a_folder_that_cannot_be_written_to_costs_time_only(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is written where Python writes no compiled modules, or there is no folder."""
    start_process(monkeypatch, tmp_path / "absent")
    assert render("one") == "one"
    start_process(monkeypatch, tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert render("one") == "one"
    assert list(tmp_path.iterdir()) == []
    assert compiled == ["page.html"] * 2
