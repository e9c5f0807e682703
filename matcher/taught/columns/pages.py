"""Long texts and pages as the text that describes the thing: without navigation, banners, phrases.

Three steps, each of its own use: the main content of a page (trafilatura), the sections that
describe the thing and not the advertiser, and the phrases that many records of one source repeat.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from catalog.errors import HostilePage, UsageError
from catalog.html import open_html
from catalog.values.text import without_tags
from matcher.dedupe.base.optional_imports import import_optional
from matcher.dedupe.base.records import Records, join_keys
from matcher.records.boilerplate import find_boilerplate, remove_runs
from matcher.records.text import fold
from matcher.taught.columns.kinds import ColumnKind

PAGES_EXTRA = "pages"  # the extra of this distribution that installs trafilatura
# Characters of a page; larger ones are cut. Cap against hostile input.
MAX_PAGE = 2_000_000
# Values of `TextOptions.sections`: all but those about the advertiser, and all.
AUTO = "auto"
ALL = "all"
# Words of a line that may be a heading.
MAX_HEADING_WORDS = 8
# Characters of a text that are compared.
MAX_TEXT = 100_000
_PAGE = re.compile(r"<(?:html|body|!doctype)\b", re.IGNORECASE)
_HEADING_TAG = re.compile(r"<h[1-6]\b[^>]*>(.{0,300}?)</h[1-6]>", re.IGNORECASE | re.DOTALL)
_BLOCK_TAG = re.compile(r"</?(?:p|div|li|ul|ol|br|tr|table|section|article)\b[^>]*>", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`>|]+|^\s*[-+]\s+", re.MULTILINE)
# Headings of sections about the advertiser, in folded text.
_ABOUT_ADVERTISER = re.compile(
    r"\b(?:about (?:us|the company|our)|who we are|our company|company (?:profile|description)|"
    r"what we offer|we offer|benefits|perks|why (?:us|join)|contact|how to apply|apply now|"
    r"equal opportunity|privacy|legal|imprint|shipping|delivery|returns?|warranty|payment|"
    r"uber uns|wir uber uns|das unternehmen|unser unternehmen|wir bieten|unser angebot|vorteile|"
    r"kontakt|bewerbung|datenschutz|impressum|versand|lieferung|ruckgabe|zahlung|"
    r"a propos|qui sommes-nous|nous offrons|livraison|sobre nosotros|quienes somos|ofrecemos|envio|"
    r"о нас|о компании|мы предлагаем|контакты|доставка|оплата)\b"
)


@dataclass(frozen=True)
class TextOptions:
    """How long texts and pages are read.

    `sections` is "auto" to leave out those about the advertiser, "all" to keep all, or the headings
    of the sections to keep, separated by commas. `source_column` names the source of a record:
    phrases that many records of a source share are left out.
    """

    sections: str = AUTO
    source_column: str = ""


def read_texts(records: Records, kinds: Sequence[ColumnKind], options: TextOptions) -> Records:
    """Return the records with pages and long texts reduced to their compared parts.

    Raises UsageError if there is no such source column, ConfigError if trafilatura is missing.
    """
    fields = [*records.fields]
    sources = _sources(records, options.source_column)
    has_changed = False
    for number, kind in enumerate(kinds):
        if kind not in (ColumnKind.HTML, ColumnKind.LONG_TEXT):
            continue
        texts = fields[number]
        if kind is ColumnKind.HTML:
            texts = [page_text(value) for value in texts]
        texts = [text[:MAX_TEXT] for text in texts]
        if options.sections != ALL:
            texts = [select_sections(text, options.sections) for text in texts]
        fields[number] = remove_repeated_phrases(texts, sources)
        has_changed = True
    if not has_changed:
        return records
    return replace(records, fields=tuple(fields), texts=join_keys(tuple(fields)))


def page_text(markup: str) -> str:
    """Return the main content of a page, or the text of a fragment; headings start with #.

    A page that would take minutes to parse has no text.
    """
    cut = markup[:MAX_PAGE]
    if "<" not in cut:
        return cut
    if not _PAGE.search(cut):
        return _fragment_text(cut)
    try:
        # trafilatura parses with lxml, without any bound of its own.
        open_html(cut)
    except HostilePage:
        return ""
    trafilatura = import_optional("trafilatura", PAGES_EXTRA)
    content = trafilatura.extract(
        cut, output_format="markdown", include_formatting=True, include_comments=False,
        favor_recall=True,
    )  # fmt: skip
    if not content:
        return _fragment_text(cut)
    return _MARKUP.sub(" ", content)


def _fragment_text(markup: str) -> str:
    """Return the text of a fragment of HTML, a line per block.

    >>> _fragment_text("<h2>Tasks</h2><p>Build <b>machines</b></p><p>Test them</p>")
    '# Tasks\\nBuild machines\\nTest them'
    """
    headed = _HEADING_TAG.sub(r"\n# \1\n", markup)
    lines = (without_tags(line) for line in _BLOCK_TAG.sub("\n", headed).splitlines())
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())


def select_sections(text: str, sections: str) -> str:
    """Keep the sections that describe the thing; all of them if none would be left.

    >>> select_sections("# Tasks\\nBuild machines.\\n# About us\\nWe are nice.", "auto")
    'Build machines.'
    >>> select_sections("Tasks:\\nBuild machines.\\nProfile:\\nA degree.", "profile")
    'A degree.'
    """
    wanted = [fold(name) for name in sections.split(",") if name.strip()]
    if not wanted:
        raise UsageError("--sections: write auto, all, or the headings to keep")
    is_automatic = wanted == [AUTO]
    selected = list[str]()
    for heading, body in split_sections(text):
        folded = fold(heading)
        is_wanted = any(name in folded for name in wanted)
        if is_automatic:
            is_wanted = not _ABOUT_ADVERTISER.search(folded)
        if is_wanted and body:
            selected.append(body)
    if selected:
        return "\n".join(selected)
    return "\n".join(body for _, body in split_sections(text) if body)


def split_sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield (heading, text) of each section; the first has no heading."""
    heading = ""
    lines = list[str]()
    for line in text.splitlines():
        stripped = line.strip()
        if _is_heading(stripped):
            yield heading, "\n".join(lines)
            heading, lines = stripped.strip("#: "), []
        elif stripped:
            lines.append(stripped)
    yield heading, "\n".join(lines)


def _is_heading(line: str) -> bool:
    if line.startswith("#"):
        return True
    return line.endswith(":") and len(line.split()) <= MAX_HEADING_WORDS


def remove_repeated_phrases(texts: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Remove the runs of six words that many texts of one source share, in any language."""
    rows_of = defaultdict[str, list[int]](list)
    for row, source in enumerate(sources):
        rows_of[source].append(row)
    cleaned = [*texts]
    for rows in rows_of.values():
        boilerplate = find_boilerplate([fold(texts[row], MAX_TEXT) for row in rows])
        if boilerplate:
            for row in rows:
                remaining = remove_runs(fold(texts[row], MAX_TEXT), boilerplate)
                # A text of nothing but phrases is compared as it is.
                cleaned[row] = remaining or texts[row]
    return cleaned


def _sources(records: Records, column: str) -> Sequence[str]:
    if not column:
        return [""] * len(records)
    if column not in records.names:
        raise UsageError(f"--source {column}: no such column is compared")
    return records.fields[records.names.index(column)]
