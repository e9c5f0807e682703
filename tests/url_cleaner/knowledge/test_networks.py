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
    "requires",
    "shared",
    "relative",
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


@pytest.mark.parametrize("entry", WRAPPERS["hosted"], ids=lambda w: w["network"])
def test_hosted_entry(entry: dict) -> None:
    """Software under the shops' own hosts is known by its paths or by two parameters at least."""
    assert set(entry) <= FIELDS - {"hosts", "shared"}
    assert entry.get("keys") or entry.get("marks") or entry.get("link_in_path")
    assert entry.get("paths") or len(entry.get("requires", [])) > 1
    assert all(path.startswith(("/", "*/")) for path in entry.get("paths", []))


def test_destinations_are_targets() -> None:
    """Keys of a destination are ranked among the keys of targets, and none is a referrer."""
    known = load_network_data()
    assert known.destinations <= set(known.targets)
    assert known.destinations.isdisjoint(known.referrers)


@pytest.mark.parametrize("key", ["wt_class", "wt.size", "fb_size", "ga_id", "cx_color_2"])
def test_attributes_are_no_trackers(key: str) -> None:
    """A key with a tracker's prefix that names an attribute of a product is no tracker."""
    assert load_network_data().tracker_of(key) is None


def test_no_wrapper_reads_a_click_reference() -> None:
    """A network's click references are never read as targets."""
    data = load_network_data()
    for wrappers in (*data.wrappers.values(), data.hosted):
        assert not any(
            key.startswith(("clickref", "subid", "epi")) for w in wrappers for key in w.keys
        )


@pytest.mark.parametrize("key", VARIANTS)
def test_no_list_takes_a_variant(key: str) -> None:
    """No key that may name a product or variant stands on a list that goes on every host or on the
    shop's own.
    """
    known = load_network_data()
    assert known.tracker_of(key) is None
    assert key not in known.mail
    assert key not in known.shop


def test_keys_are_written_once() -> None:
    """A key that goes everywhere has one reader."""
    seen = [key.lower() for group in KEYS["anywhere"] for key in group["keys"]]
    assert {key for key in seen if seen.count(key) > 1} == set()
