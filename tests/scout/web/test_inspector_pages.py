"""The inspector and the rules in the control room: stored pages are inert, rules are made and undone."""

import re
from html import escape

import pytest
from fastapi import FastAPI

from catalog.models import Attribute, Role, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.page.document import Document
from parser.rules.selector import TextAt
from scout.inspect.page_view import NUMBER, elements, suggest_for_element, view_page
from scout.inspect.rule_admin import load_rules
from scout.web.app import create_app
from tests.scout.inspect.test_page_inspection import ALL
from tests.scout.inspect.test_page_inspection import learnt as learnt
from tests.scout.web.browser import signed_in

HOSTILE = """<html><head><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=x">
<link rel="stylesheet" href="https://evil.example/a.css"><style>@import 'b.css'; p {background: url(c.png)}</style>
<script>alert(1)</script></head><body onload="alert(2)"><p onclick="alert(3)">Lamp</p>
<a href="javascript:alert(4)">link</a><img src="https://evil.example/i.png" srcset="j.png 2x">
<iframe src="https://evil.example/"></iframe><form action="https://evil.example/"><button formaction="k">go</button></form>
<svg><a xlink:href="https://evil.example/"><text>x</text></a></svg><object data="o.swf"></object></body></html>"""


def test_a_viewed_page_is_inert() -> None:
    """Scripts, handlers, links and whatever loads is gone; texts stay, and elements are numbered."""
    html = view_page(Document(HOSTILE, "https://shop.example/"), [TextAt(css="p")])
    for part in ("alert", "evil.example", "<script", "<iframe", "@import", "url(", "onload"):
        assert part not in html
    assert re.search(rf'<p {NUMBER}="\d+" data-scout-rules="0">Lamp</p>', html)


PAGE = """<body><h1 class="name">Lamp red</h1><div class="data"><span>Brand: Acme (new)</span>
<meta itemprop="price" content="12.50"></div></body>"""
SUGGESTED = [
    ("h1", Attribute.TITLE, "Lamp red", ("", "")),
    ("span", Attribute.BRAND, "Acme", ("Brand: ", " (new)")),
    ("meta", Attribute.PRICE, "12.50", ("", "")),
]


@pytest.mark.parametrize(
    ("tag", "attribute", "known", "trim"), SUGGESTED, ids=[case[0] for case in SUGGESTED]
)
def test_suggestions_for_a_picked_element(
    tag: str, attribute: Attribute, known: str, trim: tuple[str, str]
) -> None:
    """The first suggestion reads the known value, with a trim where it is a part of the text."""
    document = Document(PAGE, "https://shop.example/")
    tags = [element.tag for element in elements(document)]
    first, *_ = suggest_for_element(document, tags.index(tag), attribute, [known])
    assert (first.value, first.left, first.right) == (known, *trim)


def test_suggestions_for_no_element() -> None:
    """An element that is there no more is one clear line."""
    document = Document(PAGE, "https://shop.example/")
    with pytest.raises(Exception, match="there no more"):
        suggest_for_element(document, 10_000, Attribute.TITLE, [])


@pytest.fixture
def app(settings: Settings, store: Store, learnt: Shop) -> FastAPI:
    """Return the application on a learnt shop."""
    return create_app(settings, store, ["127.0.0.1"])


def test_pick_test_save_undo(app: FastAPI, store: Store, learnt: Shop) -> None:
    """A rule is suggested, tested on known offers, saved and pinned, and undone by one click."""
    browser = signed_in(app, Role.EDITOR)
    url = f"{learnt.url}p9"
    page = browser.get("/shops/demo/inspect", params={"url": url}).text
    page_id = re.search(r"/inspect/(\d+)/view", page)
    assert page_id is not None
    assert ALL[9].title in page
    view = browser.get(f"/shops/demo/inspect/{page_id[1]}/view")
    assert "sandbox allow-same-origin" in view.headers["content-security-policy"]
    assert "script-src" not in view.headers["content-security-policy"]
    node = re.search(rf'<h1[^>]*{NUMBER}="(\d+)"', view.text)
    assert node is not None
    parameters = {"attribute": "title", "node": node[1]}
    suggestions = browser.get(f"/shops/demo/inspect/{page_id[1]}/suggest", params=parameters)
    assert 'data-css="' in suggestions.text
    before = load_rules(store, learnt)
    assert f'name="based_on" id="based-on" value="{before.version}"' in page
    fields = {
        "attribute": "title",
        "css": "h1",
        "page": page_id[1],
        "based_on": before.version,
    }
    assert "known values" in browser.submit("/shops/demo/inspect/test", **fields).text
    answer = browser.submit("/shops/demo/inspect/save", **fields)
    assert answer.status_code == 303
    assert load_rules(store, learnt).version == before.version + 1
    undo = f"/shops/demo/rules/restore?version={before.version}&based_on={before.version + 1}"
    assert escape(undo) in browser.get(answer.headers["location"]).text
    browser.submit(undo)
    after = load_rules(store, learnt)
    assert after.templates == before.templates
    assert "Both versions" not in browser.get("/shops/demo/rules/diff").text
    assert f"version {after.version}" in browser.get("/shops/demo/rules").text


def test_the_inspector_in_german(app: FastAPI, learnt: Shop) -> None:
    """The kind of the page and the stored reason for it are shown in the reader's language."""
    browser = signed_in(app, Role.VIEWER)
    german = {"accept-language": "de"}
    page = browser.get("/shops/demo/inspect", params={"url": f"{learnt.url}p9"}, headers=german)
    assert "Angebot (wie Seitenvorlage" in page.text


REFUSED = [
    ({"attribute": "title", "css": ".nothing-here"}, "reads none of the"),
    ({"attribute": "colour", "css": "h1"}, "is no attribute"),
    ({"attribute": "title", "css": "h1", "block": "x"}, "needs both a block and a path"),
    ({"attribute": "title", "css": "h1", "name": "id", "behind": "x"}, "take one"),
    ({"attribute": "title", "css": "h1[["}, ""),
]


@pytest.mark.parametrize(("fields", "reason"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_a_rule_that_is_refused(
    app: FastAPI, store: Store, learnt: Shop, fields: dict[str, str], reason: str
) -> None:
    """A rule that reads no known value, or cannot be used, is not saved without force."""
    browser = signed_in(app, Role.EDITOR)
    answer = browser.submit("/shops/demo/inspect/save", **fields, based_on=1)
    assert answer.status_code in (400, 422)
    assert reason in answer.text
    assert load_rules(store, learnt).version == 1


# Forms of pages that show version 1 of the rules.
LATE_FORMS: list[tuple[str, dict[str, object]]] = [
    ("rules/pin", {"attribute": "title", "based_on": 1}),
    ("rules/unpin", {"attribute": "title", "based_on": 1}),
    ("rules/restore?version=1&based_on=1", {}),
    ("inspect/save", {"attribute": "title", "css": "h1", "based_on": 1}),
]


@pytest.mark.parametrize(("path", "fields"), LATE_FORMS, ids=[path for path, _ in LATE_FORMS])
def test_rules_saved_by_two_editors(
    app: FastAPI, store: Store, learnt: Shop, path: str, fields: dict[str, object]
) -> None:
    """A change of rules that somebody else has changed meanwhile is refused, and nothing is lost."""
    first, second = signed_in(app, Role.EDITOR), signed_in(app, Role.EDITOR)
    assert 'name="based_on" value="1"' in second.get("/shops/demo/rules").text
    first.submit("/shops/demo/rules/pin", attribute="price", based_on=1)
    answer = second.submit(f"/shops/demo/{path}", **fields)
    assert answer.status_code == 409
    assert "of version 2 by now: this change was made from version 1" in answer.text
    assert load_rules(store, learnt).version == 2


def test_a_refused_rule_is_saved_over_the_newest_version(
    app: FastAPI, store: Store, learnt: Shop
) -> None:
    """The inspector's form keeps its input beside the message, and saves at the second attempt."""
    browser = signed_in(app, Role.EDITOR)
    browser.submit("/shops/demo/rules/pin", attribute="price", based_on=1)
    browser.headers["hx-request"] = "true"
    fields = {"attribute": "title", "css": "h1"}
    answer = browser.submit("/shops/demo/inspect/save", **fields, based_on=1)
    assert (answer.status_code, answer.headers["hx-reswap"]) == (409, "none")
    assert 'name="based_on" id="based-on" value="2" hx-swap-oob="true"' in answer.text
    assert "Save again to add your rule" in answer.text
    assert browser.submit("/shops/demo/inspect/save", **fields, based_on=2).status_code == 204
    template = load_rules(store, learnt).templates[0]
    assert all(rule.locked for rule in template.rules_for(Attribute.PRICE))
    assert template.rules_for(Attribute.TITLE)[0].origin == "manual"


def test_pins_and_missing_pages(app: FastAPI, store: Store, learnt: Shop) -> None:
    """Rules of an attribute are pinned and unpinned; pages that were never crawled are not found."""
    browser = signed_in(app, Role.EDITOR)
    browser.submit("/shops/demo/rules/pin", attribute="title", based_on=1)
    rules = load_rules(store, learnt)
    assert all(rule.locked for rule in rules.templates[0].rules_for(Attribute.TITLE))
    browser.submit("/shops/demo/rules/unpin", attribute="title", based_on=2)
    assert not any(
        rule.locked for rule in load_rules(store, learnt).templates[0].rules_for(Attribute.TITLE)
    )
    missing = browser.get("/shops/demo/inspect", params={"url": "https://x.example/"})
    assert missing.status_code == 404
    # A large database has pages of eight digits and more.
    assert browser.get("/shops/demo/inspect?page=12345678").status_code == 404
    assert browser.get("/shops/demo/inspect/99/view").status_code == 400
    assert browser.get("/snapshots/99").status_code == 404
    snapshot = browser.get("/snapshots/1")
    assert snapshot.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "Choose a page" in browser.get("/shops/demo/inspect").text
