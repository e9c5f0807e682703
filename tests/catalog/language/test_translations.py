"""Translations: every message has a German text with the same placeholders and markup, and no text is left over."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from catalog.language.extraction import catalog_path, read_messages, untranslated
from catalog.language.languages import TRANSLATED_LANGUAGES

ROOT = Path(__file__).parents[3]
# Placeholders of both kinds, tags, and percent signs that Jinja needs doubled.
PARTS = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+>|%%")


@pytest.fixture(scope="module")
def messages() -> Catalog:
    """Collect the messages of the code."""
    return read_messages(ROOT)


def read_catalog(code: str) -> Catalog:
    """Read the catalog of a language."""
    with catalog_path(ROOT, code).open("rb") as file:
        return read_po(file, locale=code, abort_invalid=True)


@pytest.mark.parametrize("code", TRANSLATED_LANGUAGES)
def test_every_message_is_translated(messages: Catalog, code: str) -> None:
    """The catalog has the messages of the code and no other, each with a text: `make translations`."""
    catalog = read_catalog(code)
    assert {message.id for message in catalog} == {message.id for message in messages}
    assert list(untranslated(catalog)) == []


@pytest.mark.parametrize("code", TRANSLATED_LANGUAGES)
def test_translations_keep_placeholders_and_markup(code: str) -> None:
    """A translation has the placeholders and tags of its message, no other and none twice."""
    for message in read_catalog(code):
        if not message.id:
            continue
        for source, text in forms(message):
            assert sorted(PARTS.findall(text)) == sorted(PARTS.findall(source)), source
            assert text.count("%") == source.count("%") or "%" not in PARTS.sub("", source), source
            # The page capitalises what begins a line; a full stop ends the same texts.
            assert text.endswith(".") == source.endswith("."), source


def forms(message: Message) -> list[tuple[str, str]]:
    """Return each text of a translation with the source text that it stands for."""
    if isinstance(message.id, str):
        return [(message.id, str(message.string))]
    return list(zip(message.id, message.string, strict=True))
