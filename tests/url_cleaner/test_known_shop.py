"""The first strategy: with the shop's root known, its links are found in anything."""

import json
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from url_cleaner.cleaner import clean_url, is_same_site

HOMES = [
    "https://www.shop.com/",
    "http://127.0.0.1:4321",
    "http://[::1]:8080/",
    "https://xn--bcher-kva.example/",
]
FORMS = {
    "as it is": "{root}/p/a-7?variant=2",
    "campaign tags": "{root}/p/a-7?variant=2&utm_source=portal&utm_medium=cpc&gclid=d07b",
    "tags first": "{root}/p/a-7?utm_source=portal&variant=2",
    "entities": "{root}/p/a-7?gclid=1&amp;variant=2",
    "half entities": "{root}/p/a-7?variant=2&amp;amp;utm_source=x",
    "glued": "{root}/p/a-7?variant=2?partner=portal?pid=96",
    "known network": "https://www.awin1.com/cread.php?awinmid=1&ued={once}%26utm_source%3Dawin",
    "unknown network": "https://track.example/redir?c=95&redir={once}",
    "unknown network, twice encoded": "https://track.example/redir?c=95&redir={twice}",
    "five times encoded": "https://track.example/redir?c=95&redir={five}",
    "not encoded": "https://track.example/redir?redir={url}",
    "in the path": "https://track.example/x/{url}",
    "in the path, encoded": "https://track.example/x/{once}/more?y=1",
    "behind a bare mark": "https://track.example/?{url}",
    "in brackets": "https://track.example/c?go([{url}])",
    "in the fragment": "https://track.example/c#url={once}",
    "without scheme": "https://track.example/c?u={bare}",
    "without scheme, encoded": "https://track.example/c?u={bare_once}",
    "with another host's link": "https://track.example/c?ref=https%3A%2F%2Fblog.com%2F&u={once}",
    "in an unknown wrapper in a known one": "https://www.google.com/url?q=https%3A%2F%2Fa.example%2Fb%3Fc%3D{five}",
    "its own redirect": "{root}/redirect?from=feed&url={once}",
    "its own redirect, without host": "{root}/out?to=%2Fp%2Fa-7%3Fvariant%3D2",
    "own redirect in a wrapper": "https://track.example/c?u={root_once}%2Fout%3Fto%3D{twice}",
}


def _encoded(text: str, times: int) -> str:
    for _ in range(times):
        text = quote(text, safe="")
    return text


def _link(form: str, home: str) -> tuple[str, str]:
    root = home.rstrip("/")
    url = f"{root}/p/a-7?variant=2"
    bare = url.partition("://")[2]
    values = {
        "root": root,
        "url": url,
        "bare": bare,
        "bare_once": _encoded(bare, 1),
        "root_once": _encoded(root, 1),
        "once": _encoded(url, 1),
        "twice": _encoded(url, 2),
        "five": _encoded(url, 5),
    }
    return form.format(**values), url


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_link_of_the_shop_is_found(form: str, home: str) -> None:
    """The shop's link comes out plain, scheme, port and variant kept, however it was wrapped."""
    link, expected = _link(form, home)
    cleaned = clean_url(link, home=home)
    assert cleaned.url == expected
    assert not cleaned.opaque


FOREIGN = [
    "https://bit.example/34d4b0149",
    "https://www.other.com/p?id=1",
    "https://www.shop.com.evil.com/p",
    "https://evil.com/?u=https%3A%2F%2Fwww.shop.com.evil.com%2Fp",
    "https://evil.com/?u=https://www.shop.com@evil.com/p",
    "https://evil.com/?u=https://www.shop.com:8443/p",
    "https://evil.com/?u=javascript:location='https-www.shop.com'",
    "https://track.example/c?id=5&ref=https%3A%2F%2Fwww.shop.com%2F",
    "https://track.example/c?id=5&ref=https://www.shop.com/",
    "https://cdn.example/resize?url=https%3A%2F%2Fwww.shop.com%2Fa.jpg",
    "https://www.shop.com/redirect?url=https%3A%2F%2Fwww.other.com%2F",
    "https://www.shop.com/redirect/12345",
]


@pytest.mark.parametrize("link", FOREIGN)
def test_links_elsewhere_are_opaque(link: str) -> None:
    """A link that holds no link of the shop is opaque, and so is a redirect of the shop that leads
    away.
    """
    cleaned = clean_url(link, home="https://www.shop.com/")
    assert cleaned.opaque
    assert cleaned.url is None


OWN_PAGES = [
    "https://www.shop.com/login?next=https%3A%2F%2Fwww.shop.com%2Fp",
    "https://www.shop.com/p?return_url=/cart&id=7",
    "https://www.shop.com/track/shoes-7?url=blue",
    "http://shop.com/P/A?ref=artikel&source=oak&pid=7",
]


@pytest.mark.parametrize("link", OWN_PAGES)
def test_own_pages_stay(link: str) -> None:
    """A page of the shop that merely mentions another page is not taken for a redirect."""
    assert clean_url(link, home="https://www.shop.com/").url == link


def test_glued_id_without_product_in_the_path() -> None:
    """In the thesis's own example the glued id is all that names the product, so it stays; the
    partner goes.
    """
    for home in ("http://www.shop.de", None):
        cleaned = clean_url("http://www.shop.de/product?partner=idealo?pid=96", home=home)
        assert cleaned.url == "http://www.shop.de/product?pid=96"
        assert len(cleaned.removed) == 1


def test_own_keys() -> None:
    """Keys learnt for the shop are removed, whatever their case."""
    cleaned = clean_url(
        "https://shop.com/p?WKZ=7&color=red", home="https://shop.com", shop_keys=["wkz"]
    )
    assert cleaned.url == "https://shop.com/p?color=red"
    assert cleaned.removed == ("wkz: tracks in this shop",)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("http://shop.com/x", True),
        ("https://www.shop.com:443/", True),
        ("//shop.com/x", True),
        ("https://m.shop.com/", False),
        ("https://shop.com:8443/", False),
        ("nonsense", False),
    ],
)
def test_same_site(url: str, same: bool) -> None:
    """Two links are of one site when host and port agree, `www.` and the scheme aside."""
    assert is_same_site(url, "https://www.shop.com") is same


def test_catalogs_of_real_shops(shared: Path) -> None:
    """The catalog links of the mirrored shops come out as plain links of the shop, or opaque where
    they hold an id.
    """
    root = "http://127.0.0.1:4321"
    once = quote("{base}", safe="")
    for catalog in sorted(shared.glob("data/sites/*/catalog.jsonl")):
        truth = json.loads(catalog.with_name("truth.json").read_text("utf-8"))
        paths = {path for known_paths in truth["offers"].values() for path in known_paths}
        text = catalog.read_text("utf-8").replace("{base}", root)
        text = text.replace(quote(once, safe=""), _encoded(root, 2)).replace(
            once, _encoded(root, 1)
        )
        for line in text.splitlines():
            link = json.loads(line)["url"]
            cleaned = clean_url(link, home=root)
            if cleaned.opaque:
                assert link.startswith("https://bit.example/")
            else:
                assert cleaned.url is not None
                assert cleaned.url.startswith(f"{root}/")
                path = unquote(cleaned.url.removeprefix(f"{root}/"))
                # Mirrors may keep `.html` and `index.html`, which links leave out.
                assert any(path.rstrip("/") in unquote(known) for known in paths), cleaned.url
