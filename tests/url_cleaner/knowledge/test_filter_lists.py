"""The user's lists: in the formats of ClearURLs and Brave, written for the purpose, and what they
must never do.
"""

import contextlib
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from url_cleaner.cleaner import clean_url
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.filter_lists import FilterLists, load_filter_lists

TARGET = "https://www.shop.com/p/7?size=4&color=red"
ONCE = quote(TARGET, safe="")
CLEARURLS: dict[str, Any] = {
    "providers": {
        "globalRules": {
            "urlPattern": ".*",
            "rules": ["xx_[a-z]*", "size", "bad(?!look)"],
            "rawRules": [],
            "exceptions": ["^https?://kept\\.example"],
            "redirections": [],
        },
        "bounce": {
            "urlPattern": "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?bouncer(?:\\.[a-z]{2,}){1,}",
            "completeProvider": False,
            "rules": ["only_here"],
            "referralMarketing": ["mate"],
            "rawRules": ["\\/via=[^/?]*"],
            "exceptions": [],
            "redirections": [
                "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?bouncer(?:\\.[a-z]{2,}){1,}\\/go\\?.*?to=([^&]*)"
            ],
        },
        "bounce paths": {
            "urlPattern": "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?bouncer(?:\\.[a-z]{2,}){1,}",
            "rawRules": ["\\/and=[^/?]*"],
        },
    }
}
PARAMS = [
    {"include": ["*://*/*"], "exclude": ["*://kept.example/*"], "params": ["xx_b", "color"]},
    {"include": ["*://*.site.example/*"], "params": ["only_site"]},
]
DEBOUNCE = [
    {
        "include": ["*://bounce.example.com/out*"],
        "exclude": [],
        "action": "redirect",
        "param": "dest",
    },
    {"include": ["*://b.example.com/*"], "action": "base64,redirect", "param": "d"},
    {
        "include": ["*://p.example.com/*"],
        "action": "regex-path",
        "param": "^/r/(.*)$",
        "prepend_scheme": "https",
    },
    {"include": ["*://q.example.com/*"], "action": "something-new", "param": "d"},
]


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> FilterLists:
    """All three lists."""
    folder = tmp_path_factory.mktemp("lists")
    files = []
    for name, content in (("clearurls", CLEARURLS), ("params", PARAMS), ("debounce", DEBOUNCE)):
        files.append(folder / f"{name}.json")
        files[-1].write_text(json.dumps(content), "utf-8")
    return load_filter_lists(files)


CASES = [
    ("https://a.example.org/p?xx_a=1&id=2", "https://a.example.org/p?id=2"),
    ("https://a.example.org/p?xx_b=1&id=2", "https://a.example.org/p?id=2"),
    ("https://kept.example/p?xx_b=1", "https://kept.example/p?xx_b=1"),
    ("https://a.example.org/p?size=4&color=red", "https://a.example.org/p?size=4&color=red"),
    ("https://a.example.org/p?only_here=1", "https://a.example.org/p?only_here=1"),
    ("https://www.bouncer.com/p?only_here=1&mate=2&x=3", "https://www.bouncer.com/p?x=3"),
    ("https://www.bouncer.com/a/via=me?x=3", "https://www.bouncer.com/a?x=3"),
    ("https://www.bouncer.com/a/via=me/and=you?x=3", "https://www.bouncer.com/a?x=3"),
    (f"https://www.bouncer.com/go?a=1&to={ONCE}", TARGET),
    *(
        (
            f"https://bouncer.com.{host}/go?a=1&to={ONCE}",
            f"https://bouncer.com.{host}/go?a=1&to={ONCE}",
        )
        for host in ("evil.org", "a.org", "z0-9.org", "bounce.org", "https.org", "1.org")
    ),
    (
        "https://www.bouncer.com/go?to=javascript%3Aalert(1)",
        "https://www.bouncer.com/go?to=javascript%3Aalert(1)",
    ),
    (
        "https://www.bouncer.com/go?to=http%3A%2F%2Flocalhost%2F",
        "https://www.bouncer.com/go?to=http%3A%2F%2Flocalhost%2F",
    ),
    ("https://www.site.example/?only_site=1", "https://www.site.example/"),
    ("https://site.example.org/?only_site=1", "https://site.example.org/?only_site=1"),
    (f"https://bounce.example.com/out?dest={ONCE}", TARGET),
    (f"https://bounce.example.com/in?dest={ONCE}", f"https://bounce.example.com/in?dest={ONCE}"),
    ("https://b.example.com/?d=aHR0cHM6Ly93d3cuc2hvcC5jb20vcA", "https://www.shop.com/p"),
    ("https://p.example.com/r/www.shop.com/p?x=1", "https://www.shop.com/p?x=1"),
    (f"https://q.example.com/?d={ONCE}", f"https://q.example.com/?d={ONCE}"),
    (
        f"https://www.bouncer.com/go?to={quote(f'https://bounce.example.com/out?dest={ONCE}', safe='')}",
        TARGET,
    ),
]


@pytest.mark.parametrize(("link", "expected"), CASES)
def test_lists_remove_more(lists: FilterLists, link: str, expected: str) -> None:
    """Lists take off more, with a reason, but no variant; and what is cleaned is clean."""
    cleaned = clean_url(link, lists=lists)
    assert cleaned.url == expected
    assert bool(cleaned.removed or cleaned.unwrapped) is (link != expected)
    assert clean_url(expected, lists=lists).url == expected


def test_for_a_known_shop(lists: FilterLists) -> None:
    """With a shop known they serve as well, and what leads elsewhere stays opaque."""
    link = f"https://www.bouncer.com/go?to={quote(TARGET + '&xx_a=1', safe='')}"
    assert clean_url(link, home="https://shop.com", lists=lists).url == TARGET
    assert clean_url(
        f"https://bounce.example.com/out?dest={ONCE}", home="https://other.com", lists=lists
    ).opaque


def test_unreadable_patterns_are_counted(lists: FilterLists) -> None:
    """A pattern that cannot be run in time that is known is left out."""
    assert lists.skipped == 1


@pytest.mark.parametrize(
    "content", ["", "7", "{}", "[]", '{"providers": 7}', '{"providers": {"a": {}}}', '[{"a": 1}]']
)
def test_other_files(tmp_path: Path, content: str) -> None:
    """A file of another kind is named."""
    (tmp_path / "list.json").write_text(content)
    with pytest.raises(ValueError, match=r"list\.json is no list"):
        load_filter_lists([tmp_path / "list.json"])


def test_too_many_patterns(tmp_path: Path) -> None:
    """A file whose patterns do not fit into memory together is named."""
    providers = {str(n): {"urlPattern": f"^https://{n}[a-z]{{500}}"} for n in range(2_000)}
    (tmp_path / "list.json").write_text(json.dumps({"providers": providers}))
    with pytest.raises(ValueError, match=r"list\.json is no list .* bytes of memory"):
        load_filter_lists([tmp_path / "list.json"])


def test_evil_patterns_cost_little(tmp_path: Path) -> None:
    """Patterns that would keep a backtracking engine busy for years, and 10 KB that meet them, take
    milliseconds.
    """
    evil = {
        "urlPattern": "(.*)*$|(x+x+)+y",
        "rules": ["(a|aa)+$"],
        "redirections": ["((a+)+)+$"],
        "rawRules": ["(a*)*b"],
    }
    (tmp_path / "list.json").write_text(
        json.dumps({"providers": {"evil": evil | {"urlPattern": ".*"}}})
    )
    lists = load_filter_lists([tmp_path / "list.json"])
    link = "https://a.com/?" + "aaaa=1&" * 20 + "a" * 9_000
    begin = time.process_time()
    clean_url(link, lists=lists)
    assert time.process_time() - begin < 1.0


@given(
    st.text(max_size=40),
    st.sampled_from(["https://www.bouncer.com/go?to=", "https://bounce.example.com/out?dest="]),
)
def test_cleaning_twice_changes_nothing(lists: FilterLists, text: str, head: str) -> None:
    """With lists, too, a cleaned link is clean, and nothing but BadUrl is raised."""
    with contextlib.suppress(BadUrl):
        cleaned = clean_url(head + text, lists=lists)
        if cleaned.url and not cleaned.opaque:
            assert clean_url(cleaned.url, lists=lists).url == cleaned.url
