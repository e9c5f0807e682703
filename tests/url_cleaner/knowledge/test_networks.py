"""The data files keep the rules that their legends state."""

import json
from importlib.resources import files

import pytest

from url_cleaner.knowledge.networks import load_network_data
from url_cleaner.urls.domains import registrable_domain

WRAPPERS = json.loads(files("url_cleaner").joinpath("data", "wrappers.json").read_text("utf-8"))
KEYS = json.loads(files("url_cleaner").joinpath("data", "tracking.json").read_text("utf-8"))
FIELDS = {
    "network",
    "hosts",
    "paths",
    "keys",
    "marks",
    "own",
    "link_in_path",
    "shared",
    "relative",
    "schemeless",
    "code",
    "tail",
}
VARIANTS = (
    "id",
    "sku",
    "variant",
    "color",
    "size",
    "product_id",
    "article",
    "ean",
    "item",
    "page",
    "q",
    "lang",
    "currency",
)


@pytest.mark.parametrize(
    "wrapper", WRAPPERS["wrappers"], ids=lambda w: f"{w['network']} {w['hosts'][0]}"
)
def test_wrapper_entry(wrapper: dict) -> None:
    """A wrapper has known fields only, a place for its target, and hosts that can be matched at a
    label.
    """
    assert set(wrapper) <= FIELDS
    assert wrapper.get("keys") or wrapper.get("marks") or wrapper.get("link_in_path")
    for host in wrapper["hosts"]:
        assert host == host.lower()
        assert host.endswith(".*") or registrable_domain(host)
    assert all(path.startswith("/") for path in wrapper.get("paths", []))


def test_no_wrapper_reads_a_click_reference() -> None:
    """A network's click references are never read as targets."""
    for wrappers in load_network_data().wrappers.values():
        assert not any(
            key.startswith(("clickref", "subid", "epi")) for w in wrappers for key in w.keys
        )


@pytest.mark.parametrize("key", VARIANTS)
def test_no_list_takes_a_variant(key: str) -> None:
    """No key that may name a product or variant stands on a list that goes on every host or on the
    shop's own.
    """
    known = load_network_data()
    assert key not in known.anywhere
    assert key not in known.mail
    assert key not in known.shop


def test_keys_are_written_once() -> None:
    """A key that goes everywhere has one reader."""
    seen = [key.lower() for group in KEYS["anywhere"] for key in group["keys"]]
    assert {key for key in seen if seen.count(key) > 1} == set()
