"""Hosts and domains, without the network."""

import socket

import pytest

from url_cleaner.urls import domains


def test_suffix_list_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Public Suffix List is the one that was installed: no socket is opened for it."""
    monkeypatch.setattr(socket, "socket", None)
    monkeypatch.setattr(socket, "getaddrinfo", None)
    domains._suffix_list.cache_clear()
    domains.registrable_domain.cache_clear()
    assert domains.registrable_domain("a.shop.co.uk") == "shop.co.uk"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "intranet", "co.uk", "2130706433", "index.html"]
)
def test_not_registrable(host: str) -> None:
    """Addresses and bare names belong to nobody."""
    assert domains.registrable_domain(host) is None


@pytest.mark.parametrize(
    ("host", "listed", "covered"),
    [
        ("www.awin1.com", "awin1.com", True),
        ("awin1.com", "awin1.com", True),
        ("notawin1.com", "awin1.com", False),
        ("awin1.com.example.org", "awin1.com", False),
        ("images.google.co.uk", "google.*", True),
        ("google.de", "google.*", True),
        ("www.google.com.br", "google.*", True),
        ("www.google.ne.jp", "google.*", True),
        ("www.shop.org.uk", "shop.*", True),
        ("www.shop.org.uk", "org.*", False),
        ("www.shop.or.at", "or.*", False),
        ("shop.net.au", "net.*", False),
        ("org.uk", "org.*", True),
        ("google.org.com", "google.*", False),
        ("google.com.evil.org", "google.*", False),
        ("google.evil.org", "google.*", False),
    ],
)
def test_hosts_match_at_labels(host: str, listed: str, covered: bool) -> None:
    """A listed host covers its subdomains, and nothing that merely contains its name."""
    assert (listed in domains.host_patterns(host)) is covered
