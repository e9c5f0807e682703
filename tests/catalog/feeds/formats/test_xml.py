"""XML feeds as shops send them: each item is read in full or refused with its line."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.errors import UnreadableFeed
from catalog.feeds.formats.xml import google_merchant, items
from catalog.feeds.formats.xml.fields import read_fields
from catalog.feeds.rows import Row, UnreadableRow

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>\n'
)
FOOT = "\n</channel></rss>\n"


def item(number: int, title: str = "Mug", extra: str = "") -> str:
    """An item on a line of its own."""
    return (
        f"<item><g:id>{number}</g:id><title>{title}</title>{extra}"
        f"<link>https://shop.example/p?id={number}&amp;size=4</link></item>\n"
    )


@dataclass
class Reading:
    """The rows of a feed, read and refused."""

    titles: dict[str, str]
    links: dict[str, str]
    refused: list[tuple[int, str]]
    notes: list[str]

    @property
    def count(self) -> int:
        """Number of rows, read or refused."""
        return len(self.titles) + len(self.refused)


def read(folder: Path, content: str | bytes) -> Reading:
    """Read a feed of this content."""
    path = folder / "feed.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    notes: list[str] = []
    rows = list(google_merchant.read(path, notes.append))
    good = [row for row in rows if isinstance(row, Row)]
    return Reading(
        {row.texts.get("id", ["?"])[0]: row.texts.get("title", [""])[0] for row in good},
        {row.texts.get("id", ["?"])[0]: row.texts.get("link", [""])[0] for row in good},
        [(row.line, row.reason) for row in rows if isinstance(row, UnreadableRow)],
        notes,
    )


# A slip in the title of the third of six items, and the text that a reader means by it.
SLIPS_IN_A_TITLE = [
    ("bare <", "for waists <100 cm", "for waists <100 cm"),
    ("bare <", "I <3 tea", "I <3 tea"),
    ("bare <", "a < b", "a < b"),
    ("bare <", "a <= b <", "a <= b <"),
    ("bare <", "<< sale", "<< sale"),
    ("bare <", "sizes <m and more", "sizes <m and more"),
    ("bare <", "sizes <m and >l", "sizes <m and >l"),
    ("bare >", "a > b >> c", "a > b >> c"),
    ("bare &", "Salt & pepper", "Salt & pepper"),
    ("bare &", "B&B set, R&amp;D", "B&B set, R&D"),
    ("bare &", "&", "&"),
    ("bare &", "a&b;c", "a&b;c"),
    ("bare &", "AT&amp;T & co &lt;new&gt; &quot;x&quot;", 'AT&T & co <new> "x"'),
    ("references of HTML", "Salt&nbsp;mill", "Salt\xa0mill"),
    ("references of HTML", "Caf&eacute; &ndash; &euro;", "Café – €"),
    ("numeric references", "Caf&#233; &#x20AC;", "Café €"),
    ("numeric references", "a&#11;b&#x1F;c&#0;", "abc\ufffd"),
    ("control characters", "a\x08b\x1fc\x00", "abc"),
    ("control characters", "a\x0bb\x0cc", "a b c"),
    ("CDATA", "<![CDATA[Nut & bolt <M3>]]>", "Nut & bolt <M3>"),
    ("CDATA", "<![CDATA[a]]> and <![CDATA[b]]>", "a and b"),
    ("CDATA", "<![CDATA[a ]] b]]>", "a ]] b"),
    ("CDATA", "<![CDATA[see </item> and <item>]]>", "see </item> and <item>"),
    ("markup", "Nut <b>M3</b> &amp; bolt", "Nut M3 & bolt"),
    ("markup", "Nut<br/>bolt", "Nutbolt"),
    ("markup", "Nut <br> bolt", "Nut <br> bolt"),
    ("comment", "Nut<!-- a -- b --> bolt", "Nut bolt"),
    ("comment", "Nut<!-- <b>&nbsp; --->", "Nut"),
    ("instruction", "Nut<?php echo 1 ?>", "Nut"),
]


@pytest.mark.parametrize(("kind", "written", "meant"), SLIPS_IN_A_TITLE)
def test_slips_in_a_title_cost_nothing(tmp_path: Path, kind: str, written: str, meant: str) -> None:
    """The item with the slip and all others are read in full."""
    titles = ["Cup & saucer", "Mug", written, "Pot", "Tools & box", "Jug"]
    escaped = [title.replace("& ", "&amp; ") if title != written else title for title in titles]
    content = HEAD + "".join(item(n, title) for n, title in enumerate(escaped, 1)) + FOOT
    reading = read(tmp_path, content)
    titles[2] = meant
    assert list(reading.titles.values()) == titles
    assert list(reading.links.values()) == [
        f"https://shop.example/p?id={n}&size=4" for n in range(1, 7)
    ]
    assert reading.refused == []


# Slips in the third of six items that leave its fields in doubt, and the reason that is given.
DOUBTFUL_ITEMS = [
    (item(3).replace("</title>", ""), "has <title> that is not closed"),
    (item(3).replace("</title>", "</titel>"), "has <title> that is not closed"),
    (item(3).replace("</title>", "<title>"), "has <title> that is not closed"),
    (item(3).replace("<title>", ""), "has </title> without a start"),
    (item(3).replace("<title>", "<title"), "has </title> without a start"),
    (item(3).replace("<title>", "<ti tle>"), "has </title> without a start"),
    (item(3).replace("</item>", ""), "has no end: <item> is not closed"),
    (item(3).replace("</item>", "</itm>"), "has no end: <item> is not closed"),
    (item(3).replace("<item>", "<item"), "has a start tag <item> that is not well-formed"),
    (item(3).replace("<item>", '<item id="7>'), "has a start tag <item> that is not well-formed"),
    (item(3).replace("<item>", "<itm>"), "has </item> without a start"),
    (item(3).replace("<title>Mug</title>", "<title"), "has a tag that is not well-formed"),
    (item(3).replace("</item>", "</ item></item>"), "has a tag that is not well-formed"),
    (item(3, "<![CDATA[Mug"), "has a CDATA section that is not closed"),
    (item(3, "<![CDATA[Mug]>"), "has a CDATA section that is not closed"),
    (item(3, "<!-- Mug"), "has a comment that is not closed"),
    (item(3, "<?php Mug"), "has a processing instruction that is not closed"),
    (item(3, "see <item> here"), "has no end: <item> is not closed"),
    (item(3, "see </item> here"), "has <title> that is not closed"),
]


@pytest.mark.parametrize("later", ["<![CDATA[Pot]]>", "<!-- x -->Pot<?x y?>", "Pot"])
@pytest.mark.parametrize(("written", "reason"), DOUBTFUL_ITEMS)
def test_doubtful_items_are_refused_alone(
    tmp_path: Path, written: str, reason: str, later: str
) -> None:
    """An item whose fields are in doubt is refused with its line; all others are read."""
    others = [item(n, later) for n in (1, 2)], [item(n, later) for n in (4, 5, 6)]
    reading = read(tmp_path, HEAD + "".join(others[0]) + written + "".join(others[1]) + FOOT)
    assert list(reading.titles) == ["1", "2", "4", "5", "6"]
    assert set(reading.titles.values()) == {"Pot"}
    assert reading.refused[0] == (5, reason)
    # A tag of an item in a text gives a second piece, which is refused as well.
    assert len(reading.refused) == (2 if "see <" in written else 1)


def test_comments_hide_what_they_hold(tmp_path: Path) -> None:
    """An item in a comment is none; a comment that is not closed hides nothing."""
    hidden = f"<!-- off -- since May {item(2)} -->"
    reading = read(tmp_path, HEAD + item(1) + hidden + item(3) + FOOT)
    assert (list(reading.titles), reading.refused) == (["1", "3"], [])
    reading = read(tmp_path, HEAD + item(1) + "<!-- note\n" + item(2) + "<!-- x -->" + FOOT)
    assert (list(reading.titles), reading.refused) == (["1", "2"], [])
    assert reading.notes == ["XML repaired: a comment not closed"]
    reading = read(tmp_path, HEAD + item(1) + "<!-- note\n" + item(2) + FOOT)
    assert list(reading.titles) == ["1", "2"]


@pytest.mark.parametrize(
    "prefix",
    ["g", "media", "x-y", "ns.2", "größe"],
    ids=["g", "media", "hyphen", "point", "letter"],
)
def test_undeclared_prefixes(tmp_path: Path, prefix: str) -> None:
    """A prefix needs no declaration."""
    field = (
        f'<{prefix}:thumbnail url="https://shop.example/a.jpg"/><{prefix}:brand>B</{prefix}:brand>'
    )
    reading = read(tmp_path, "<rss><channel>" + item(1, extra=field) + item(2) + FOOT)
    assert list(reading.titles) == ["1", "2"]


@pytest.mark.parametrize("names", ["item", "g:item", "entry", "Product", "OFFER", "article"])
def test_names_of_items(tmp_path: Path, names: str) -> None:
    """Items of all usual names are read, in any case and with any prefix."""
    content = f"<list>{item(1)}{item(2)}</list>"
    reading = read(tmp_path, content.replace("item>", f"{names}>"))
    assert list(reading.titles) == ["1", "2"]


def test_inner_items_are_parts(tmp_path: Path) -> None:
    """An item inside another one, of the same name or not, belongs to it."""
    inner = "<offer><price>3</price></offer><related><item><g:id>9</g:id></item></related>"
    reading = read(tmp_path, HEAD + item(1, extra=inner) + item(2) + FOOT)
    assert (list(reading.titles), reading.refused) == (["1", "2"], [])
    many = "<item><x>1</x></item>" * (items.MAX_INNER_ITEMS - 1)
    reading = read(tmp_path, HEAD + item(1, extra=f"<more>{many}</more>") + item(2) + FOOT)
    assert (list(reading.titles), reading.refused) == (["1", "2"], [])


def test_slips_in_two_items(tmp_path: Path) -> None:
    """An item between two broken ones is read, whatever these lack."""
    for third in (f"<!--{item(3)}", item(3, "<![CDATA[Mug"), item(3).replace("</item>", "")):
        content = HEAD + item(1).replace("</item>", "") + item(2) + third + item(4) + FOOT
        reading = read(tmp_path, content)
        assert {"2", "4"} <= reading.titles.keys()
        assert reading.count == 4


def test_empty_and_attribute_items(tmp_path: Path) -> None:
    """An item may hold all in attributes."""
    path = tmp_path / "feed.xml"
    path.write_text(
        '<list>\n<product id="1" name="a > b &amp; c" \'x\'/>\n'
        "<product id='2' name='say \"hi\"' url=\"https://s.example/?a=1&b=2\" />"
        '<product id="3" name="a < b"></product></list>'
    )
    rows = list(google_merchant.read(path, print))
    assert [row.texts for row in rows if isinstance(row, Row)] == [
        {"id": ["1"], "name": ["a > b & c"]},
        {"id": ["2"], "name": ['say "hi"'], "url": ["https://s.example/?a=1&b=2"]},
        {"id": ["3"], "name": ["a < b"]},
    ]


@pytest.mark.parametrize(
    "content",
    [
        HEAD + item(1),
        HEAD + item(1) + item(2)[:30],
        HEAD + item(1) + item(2, "<![CDATA[Mug"),
        HEAD + item(1) + "<!-- the rest",
        HEAD + item(1) + "</channel>",
        HEAD + item(1) + FOOT + HEAD + item(2),
        item(1)[:30],
        "<rss>",
        "<rss",
    ],
)
def test_feeds_cut_short_are_refused(tmp_path: Path, content: str) -> None:
    """A feed without its end is refused as a whole."""
    with pytest.raises(UnreadableFeed, match=r"is cut short at line \d|is no XML"):
        read(tmp_path, content)


@pytest.mark.parametrize(
    "start",
    [
        "\n",
        "\ufeff",
        "\r\n  \t\n",
        "<!-- made by us -->\n",
        "Warning: x in y.php on line 3\n",
        "<br />\n<b>Warning</b>: y<br />\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "utf-16"])
def test_text_before_the_declaration(tmp_path: Path, start: str, encoding: str) -> None:
    """Blank lines and warnings before the declaration change neither rows nor encoding."""
    if encoding == "windows-1251" and start == "\ufeff":
        pytest.skip("this encoding has no byte order mark")
    head = HEAD.replace("UTF-8", encoding)
    titles = ["Лампа зелёная", "Стол дубовый"]
    content = start + head + "".join(item(n, title) for n, title in enumerate(titles)) + FOOT
    reading = read(tmp_path, content.encode(encoding))
    assert list(reading.titles.values()) == titles


GERMAN = ["Lampe Grün", "Straßenlampe", "Küchenstühle"]
RUSSIAN = ["Лампа зелёная", "Стол дубовый", "Чашка"]
JAPANESE = ["赤い椅子", "テーブルランプ", "キッチンナイフ"]


@pytest.mark.parametrize(
    ("declared", "written", "titles"),
    [
        ("UTF-8", "cp1252", GERMAN),
        ("UTF-8", "cp1251", RUSSIAN),
        ("UTF-8", "shift_jis", JAPANESE),
        ("windows-1251", "utf-8", RUSSIAN),
        ("iso-8859-1", "utf-8", GERMAN),
        ("iso-8859-1", "cp1252", [*GERMAN, "12 € „gut“"]),
        ("iso-8859-1", "utf-16", GERMAN),
        ("utf-16", "utf-8", GERMAN),
        ("utf-16", "utf-8-sig", GERMAN),
        ("UTF-16LE", "cp1252", GERMAN),
        ("koi8-r", "koi8_r", RUSSIAN),
        ("windows-1251", "cp1251", RUSSIAN[:1]),
        ("gb2312", "gb18030", ["红色椅子", "台灯"]),
        ("EUC-JP", "euc_jp", JAPANESE),
        ("iso-2022-jp", "iso2022_jp", JAPANESE),
        ("iso-2022-jp-1", "iso2022_jp_1", JAPANESE),
        ("iso-2022-jp-2", "iso2022_jp_2", JAPANESE),
        ("iso-2022-jp-2004", "iso2022_jp_2004", JAPANESE),
        ("iso-2022-jp", "utf-8", JAPANESE),
        ("iso-2022-jp-1", "ascii", ["Lamp"]),
        ("hex", "utf-8", GERMAN),
        ("undefined", "cp1252", GERMAN),
        ("utf8mb4", "utf-8", GERMAN),
        ("zip", "cp1251", RUSSIAN),
        ("utf-8", "utf-32", GERMAN),
    ],
)
def test_declared_encodings_may_be_wrong(
    tmp_path: Path, declared: str, written: str, titles: list[str]
) -> None:
    """Letters come out right whatever the declaration says."""
    head = HEAD.replace("UTF-8", declared)
    content = head + "".join(item(n, title) for n, title in enumerate(titles)) + FOOT
    assert list(read(tmp_path, content.encode(written)).titles.values()) == titles


def test_encoding_of_one_long_line(tmp_path: Path) -> None:
    """One bad byte on a long line does not change the encoding of the whole line."""
    items = "".join(item(n, "Straße ö").strip() for n in range(12_000))
    content = (HEAD + items + FOOT).encode()
    reading = read(tmp_path, content.replace("Straße".encode(), b"Stra\xdfe", 1))
    assert next(iter(reading.titles.values())) == "Stra\ufffde ö"
    assert set(list(reading.titles.values())[1:]) == {"Straße ö"}


def test_many_attributes_take_linear_time(tmp_path: Path) -> None:
    """40,000 attributes on an item or a field are read in a moment."""
    attributes = "".join(f' attribute{n}="value {n}"' for n in range(40_000))
    content = HEAD + item(1).replace("<item", f"<item{attributes}") + item(2) + FOOT
    begin = time.process_time()
    assert list(read(tmp_path, content).titles) == ["1", "2"]
    content = HEAD + item(1).replace("<title", f"<title{attributes}") + item(2) + FOOT
    assert list(read(tmp_path, content).titles) == ["1", "2"]
    for name in ("<rss", "<channel", "<!-- x"):
        content = HEAD + "<!-- x -->" + item(1) + item(2) + FOOT
        content = content.replace(name, f"{name}{attributes}")
        assert list(read(tmp_path, content).titles) == ["1", "2"]
    assert time.process_time() - begin < 10


HOSTILE = {
    "open items": "<item>" * 100_000,
    "items not closed": item(1).replace("</item>", "") * 20_000,
    "open fields": "<item>" + "<a>" * 300_000 + "</item>",
    "crossed fields": "<item>" + "<a><b></a>" * 100_000 + "</item>",
    "closing tags": "</item>" * 100_000,
    "open comments": "<item><!--" * 50_000,
    "open sections": "<item><![CDATA[" * 50_000,
    "closed comments": "<!---->" * 200_000,
    "instructions": "<?" * 300_000,
    "less-than signs": "<item><title>" + "<" * 1_000_000 + "</title></item>",
    "ampersands": "<item><title>" + "&" * 1_000_000 + "</title></item>",
    "quotes": "<item " + "\"'" * 300_000,
    "quoted tags": '<item a="<item ' * 50_000,
    "long name": f"<item><{'x' * 1_000_000}>1</item>",
    "spaces": "<item" + " " * 1_000_000,
    "end sections": "<item><a><![CDATA[" + "]]" * 500_000,
    "attributes": "<item><a " + "b='1' " * 100_000,
    "equals": "<item " + "a=" * 300_000 + "></item>",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_markup_takes_linear_time(tmp_path: Path, kind: str) -> None:
    """Markup made to be slow is read or refused in seconds, and costs no item behind it."""
    begin = time.process_time()
    reading = read(tmp_path, HEAD + HOSTILE[kind] + item(7) + item(8) + FOOT)
    assert time.process_time() - begin < 20
    assert "8" in reading.titles


def test_comments_that_are_not_closed_are_not_looked_for_again_and_again() -> None:
    """Many of them make an item doubtful; a few are text."""
    begin = time.process_time()
    reason = read_fields("", "<a><b>1</b></a>" + "<!--" * 200_000)
    assert reason == "has more than 100 <!-- without -->"
    assert time.process_time() - begin < 2
    assert read_fields("", "<a><b>1</b></a>" + "<!--" * 10) != reason


def test_items_of_many_names_are_refused(tmp_path: Path) -> None:
    """A feed whose items all have names of their own is none."""
    begin = time.process_time()
    with pytest.raises(UnreadableFeed, match="has items of more than 100 names"):
        read(tmp_path, HEAD + "".join(f"<p{n}:item>" for n in range(50_000)) + FOOT)
    assert time.process_time() - begin < 20


SLIPS = ["<", "&", "</item>", "<item>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "</title>", '"']

PAIRS = [("<item>", "</item>"), ("<!--", "-->"), ("<![CDATA[", "]]>")]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1500), st.sampled_from(SLIPS)), min_size=1, max_size=3),
    st.booleans(),
)
def test_no_item_is_dropped_silently(
    tmp_path_factory: pytest.TempPathFactory, slips: list[tuple[int, str]], with_cdata: bool
) -> None:
    """Wherever slips stand, an item that holds none is read, and one that does is read or refused."""
    title = "<![CDATA[Mug]]>" if with_cdata else "Mug"
    items = [item(n, title) for n in range(1, 9)]
    broken = set[int]()
    for position, slip in slips:
        number, offset = divmod(position, max(map(len, items)))
        if number < len(items):
            offset = min(offset, len(items[number]) - 2)
            items[number] = items[number][:offset] + slip + items[number][offset:]
            broken.add(number + 1)
    reading = read(tmp_path_factory.mktemp("xml"), HEAD + "".join(items) + FOOT)
    whole = {str(number) for number in range(1, 9)} - {str(number) for number in broken}
    # Both ends of an item, a comment or a section may stand around others.
    used = {slip for _, slip in slips}
    if any(set(pair) <= used for pair in PAIRS):
        return
    # A title's own section that a slip keeps open may be closed by another one, in a later item.
    if with_cdata and "]]>" in used and len(slips) > 1:
        return
    assert whole <= reading.titles.keys()
    # Two slips may make one item of two.
    assert reading.count >= 8 or (reading.refused and len(broken) > 1)
    starts = len(re.findall(r"<item(?=[\s/<>])", "".join(items)))
    assert reading.count <= starts + 2 * len(slips)
