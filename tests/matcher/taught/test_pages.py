"""Pages and long texts: content without navigation, wanted sections, no phrases of the source."""

import pytest

from catalog.errors import UsageError
from matcher.dedupe.base.records import Records
from matcher.taught.columns.kinds import ColumnKind
from matcher.taught.columns.pages import TextOptions, page_text, read_texts, select_sections
from tests.matcher.taught.tables import to_records

TASKS = "You build machines and test them with care every day of the year. " * 5
PAGE = f"""<html><body><nav><a href="/">Home</a> <a href="/jobs">Jobs</a></nav><main><h1>Fitter</h1>
<h2>Your tasks</h2><p>{TASKS}</p><h2>About us</h2><p>{"We are a family of makers since 1912. " * 5}</p>
</main><footer>Imprint</footer></body></html>"""


def test_the_content_of_a_page() -> None:
    """Navigation and footer go, headings stay recognisable."""
    pytest.importorskip("trafilatura", reason="trafilatura is not installed")
    text = page_text(PAGE)
    assert "machines" in text
    assert "Home" not in text
    assert "family" not in select_sections(text, "auto")


def test_a_hostile_page_has_no_text() -> None:
    """A page that would take minutes to parse is not parsed."""
    assert page_text("<html><body>" + "<div>" * 50_000) == ""


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ("auto", "Build machines."),
        ("about", "We are nice."),
        ("salary", "Build machines.\nWe are nice."),
    ],
)
def test_sections(sections: str, expected: str) -> None:
    """Named sections are kept, or those about the thing; all of them if none would be left."""
    text = "Tasks:\nBuild machines.\nAbout us:\nWe are nice."
    assert select_sections(text, sections) == expected


@pytest.mark.parametrize(
    ("options", "is_kept"), [(TextOptions(), False), (TextOptions("all"), True)]
)
def test_sections_about_the_advertiser(options: TextOptions, is_kept: bool) -> None:
    """They are left out unless all sections are asked for."""
    records = to_records([("Tasks:\nBuild machines.\nAbout us:\nWe are nice.",)], ("text",))
    [text] = read_texts(records, [ColumnKind.LONG_TEXT], options).fields[0]
    assert ("nice" in text) == is_kept


def test_phrases_of_a_source() -> None:
    """A phrase that many records of a source repeat goes; another source keeps it."""
    phrase = "we ship within two working days to all addresses"
    rows = [(f"item number {row} of {'ab'[row % 2]} is special {phrase}", "x") for row in range(10)]
    records = to_records([*rows, (f"another thing {phrase}", "y")], ("text", "shop"))
    kinds = [ColumnKind.LONG_TEXT, ColumnKind.IGNORED]
    read = read_texts(records, kinds, TextOptions(source_column="shop")).fields[0]
    assert phrase not in read[0]
    assert phrase in read[-1]


def test_other_columns_are_untouched() -> None:
    """Records without long texts are the same object; an unknown source is an error."""
    records = to_records([("Mug", "x", "1")])
    kinds = [ColumnKind.TEXT] * 3
    assert read_texts(records, kinds, TextOptions()) is records
    with pytest.raises(UsageError, match="no such column"):
        read_texts(Records(([""],), [""], [1], ("a",)), kinds[:1], TextOptions(source_column="b"))
