"""Collection of all messages in Python code and templates, for `make translations`.

Run as `python -m catalog.language.extraction` in the project's root. The catalogs keep their
translations, get the new messages without one, and lose those that no code uses any more.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from catalog.language.languages import TRANSLATED_LANGUAGES

PACKAGES = (
    "catalog", "crawler", "matcher", "parser", "reports", "rules_generator", "scout", "url_cleaner",
)  # fmt: skip
# Functions with the positions of their messages.
_KEYWORDS = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "gettext_noop": None,
    "Sentence": (1,),
}
_METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2.ext:babel_extract")]
_OPTIONS = {
    "**/templates/**.html": {"trimmed": "true", "silent": "false", "encoding": "utf-8"},
}
_LINE_WIDTH = 100


def read_messages(root: Path) -> Catalog:
    """Collect the messages of all packages below a folder."""
    messages = Catalog(project="Scout", charset="utf-8", fuzzy=False)
    for package in PACKAGES:
        for file, _, message, comments, context in extract_from_dir(
            root / package, _METHODS, _OPTIONS, keywords=_KEYWORDS, comment_tags=("Translators:",)
        ):
            place = (f"{package}/{file}", 1)
            messages.add(message, None, [place], auto_comments=comments, context=context)
    return messages


def catalog_path(root: Path, code: str) -> Path:
    """Return the path of a language's catalog."""
    return root / "catalog" / "language" / "translations" / f"{code}.po"


def update_catalog(path: Path, messages: Catalog, code: str) -> Catalog:
    """Bring a language's catalog up to the messages, write it, and return it."""
    translated = Catalog(locale=code, project="Scout", charset="utf-8", fuzzy=False)
    if path.exists():
        with path.open("rb") as file:
            translated = read_po(file, locale=code)
    # A new date at each run would change the file without need.
    messages.creation_date = translated.creation_date
    # A guess by likeness would be shown to nobody and hide what lacks a translation.
    translated.update(messages, no_fuzzy_matching=True)
    translated.obsolete.clear()
    with path.open("wb") as file:
        write_po(
            file, translated, width=_LINE_WIDTH, sort_output=True, include_lineno=False,
            ignore_obsolete=True,
        )  # fmt: skip
    return translated


def untranslated(catalog: Catalog) -> Iterator[str]:
    """Yield the messages without a translation."""
    for message in catalog:
        if not message.id:
            continue
        texts = message.string if isinstance(message.string, (list, tuple)) else [message.string]
        if message.fuzzy or not all(texts):
            yield message.id if isinstance(message.id, str) else message.id[0]


def main() -> None:
    """Update the catalogs of all languages, and print the messages that lack a translation."""
    root = Path.cwd()
    messages = read_messages(root)
    for code in TRANSLATED_LANGUAGES:
        path = catalog_path(root, code)
        missing = list(untranslated(update_catalog(path, messages, code)))
        sys.stdout.write(f"{path.relative_to(root)}: {len(missing)} messages to translate\n")
        for message in missing:
            sys.stdout.write(f"  {message}\n")


if __name__ == "__main__":
    main()
