"""Tracking parameters of a URL, each judged with a reason; all others stay.

Hübscher 2018 deletes every key that is on one list. Here a key is judged in context, since losing a
variant is worse than leaving a tracker: some keys track on every host, some on one only; a shop's
own URL may lose `partner=...`, which elsewhere could mean anything; a vague key such as `source` is
removed only if its value names a portal or a channel; the receiver of a mailing stays on URLs that
end a subscription.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from url_cleaner.knowledge.networks import KeySet, load_network_data
from url_cleaner.urls.query import Parameter, join_parameters, parse_query
from url_cleaner.urls.url import Url, unescape

if TYPE_CHECKING:
    from url_cleaner.knowledge.filter_lists import FilterLists

# Characters of a key and of a value that a reason quotes.
_QUOTED_KEY_LENGTH = 60
_QUOTED_VALUE_LENGTH = 40

_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;?#]*", re.IGNORECASE)
# Session ids as PHP and Java write them: hexadecimal digits of an MD5 or SHA-1 hash, or 26 letters
# and digits at five bits each.
_SESSION_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-v]{26}", re.IGNORECASE)
# Begins a text directive in a fragment (WICG, URL Fragment Text Directives).
_TEXT_DIRECTIVE = ":~:"


def _no_tracker(_key: str) -> None:
    """Stand in for filter lists where there are none."""


@dataclass(frozen=True)
class ParameterJudge:
    """Judge of the parameters of one URL; `is_shop` where the URL is the shop's own."""

    host_keys: tuple[KeySet, ...]
    shop_keys: frozenset[str] = frozenset()
    is_shop: bool = False
    keeps_mail_keys: bool = False
    listed_tracker: Callable[[str], str | None] = _no_tracker

    @classmethod
    def of(
        cls,
        url: Url,
        is_shop: bool,
        shop_keys: Collection[str],
        lists: "FilterLists | None" = None,
    ) -> "ParameterJudge":
        """Make the judge of a URL's parameters."""
        data = load_network_data()
        text = f"{url.path}?{url.query}".lower()
        return cls(
            host_keys=tuple(data.keys_at(url.host, url.path)),
            shop_keys=frozenset(key.lower() for key in shop_keys),
            is_shop=is_shop,
            keeps_mail_keys=any(mark in text for mark in data.mail_marks),
            listed_tracker=partial(lists.tracker_of, url) if lists else _no_tracker,
        )

    def reason(self, param: Parameter) -> str | None:
        """Return the reason why a parameter is tracking; None where it is not, or is unknown."""
        data = load_network_data()
        key = param.key
        if key in self.shop_keys:
            return "tracks in this shop"
        if tracker := data.mail.tracker_of(key):
            if self.keeps_mail_keys:
                return None
            return f"names the receiver of a letter to {tracker}"
        return (
            data.tracker_of(key)
            or _session_reason(param)
            or self._host_reason(key)
            or self._shop_reason(key, param.value)
            or self.listed_tracker(key)
        )

    def _host_reason(self, key: str) -> str | None:
        for keys in self.host_keys:
            if tracker := keys.tracker_of(key):
                return f"{tracker} on its own site"
        return None

    def _shop_reason(self, key: str, value: str) -> str | None:
        """Judge keys that track in shops: on the shop's own URL, or where the value leaves no
        doubt.
        """
        data = load_network_data()
        tracker = data.shop.tracker_of(key)
        if tracker and self.is_shop:
            return tracker
        if not tracker and key not in data.vague:
            return None
        name = unescape(value).lower()
        if name in data.portals or (self.is_shop and name in data.channels):
            return f"names a portal or channel: {value[:_QUOTED_VALUE_LENGTH]}"
        return None


def _session_reason(param: Parameter) -> str | None:
    """Judge keys that may hold a session id, by whether the value looks like one.

    >>> _session_reason(Parameter("&", "", "sid", "9f86d081884c7d659a2feaa0c55ad015"))
    'session'
    >>> _session_reason(Parameter("&", "", "sid", "7")) is None
    True
    """
    if param.key not in load_network_data().sessions:
        return None
    is_mixed = not param.value.isalpha() and not param.value.isdigit()
    return "session" if is_mixed and _SESSION_ID.fullmatch(param.value) else None


def strip_tracking(url: Url, judge: ParameterJudge) -> tuple[Url, list[str]]:
    """Remove tracking from a URL. Returns the URL and a reason for everything removed."""
    path, path_reasons = _strip_path(url)
    query, query_reasons = _strip_query(url.query, path, judge)
    fragment, fragment_reasons = _strip_fragment(url.fragment, judge)
    stripped = replace(url, path=path, query=query, fragment=fragment)
    return stripped, [*path_reasons, *query_reasons, *fragment_reasons]


def _strip_path(url: Url) -> tuple[str, list[str]]:
    """Remove session ids behind a semicolon, and segments that track on this host (such as
    `ref=...`).
    """
    path = url.path
    reasons: list[str] = []
    if ";" in path:
        path, session_count = _SESSION.subn("", path)
        if session_count:
            reasons.append(";jsessionid: session")
    if prefixes := load_network_data().segment_prefixes_at(url.host):
        segments = [segment for segment in path.split("/") if not segment.startswith(prefixes)]
        shortened = "/".join(segments)
        if shortened != path:
            path = shortened
            reasons.append("ref= in the path: tracks on its own site")
    return path, reasons


def _strip_query(query: str, path: str, judge: ParameterJudge) -> tuple[str, list[str]]:
    params = parse_query(query)
    reasons = _judge_all(params, judge)
    _judge_glued(params, reasons, path)
    stripped = join_parameters(params, [reason is None for reason in reasons])
    return stripped, _removals(params, reasons)


def _strip_fragment(fragment: str, judge: ParameterJudge) -> tuple[str, list[str]]:
    """Remove campaign tags and text directives, which only tell a browser what to highlight."""
    plain_fragment, directive, _ = fragment.partition(_TEXT_DIRECTIVE)
    params = parse_query(plain_fragment)
    # A fragment without `=` is the name of a place on the page.
    reasons = [judge.reason(param) if "=" in param.text else None for param in params]
    stripped = join_parameters(params, [reason is None for reason in reasons])
    removals = _removals(params, reasons, "#")
    if directive:
        removals.append(f"#{_TEXT_DIRECTIVE}text: what to mark on the page")
    return stripped, removals


def _judge_all(params: Sequence[Parameter], judge: ParameterJudge) -> list[str | None]:
    """Return a reason or None per parameter."""
    # Each text is judged once: a hostile query repeats itself thousands of times.
    reason_of: dict[str, str | None] = {"": None}
    for param in params:
        if param.text not in reason_of:
            reason_of[param.text] = judge.reason(param)
    return [reason_of[param.text] for param in params]


def _removals(
    params: Sequence[Parameter], reasons: Sequence[str | None], prefix: str = ""
) -> list[str]:
    removals: list[str] = []
    for param, reason in zip(params, reasons, strict=True):
        if reason:
            removals.append(f"{prefix}{param.key[:_QUOTED_KEY_LENGTH]}: {reason}")
    return removals


def _judge_glued(params: Sequence[Parameter], reasons: list[str | None], path: str) -> None:
    """Judge ids that were glued to a tracker with a second `?`, as in `?partner=portal?pid=31`.

    The id is the tracker's and goes with it, unless nothing before it names the product. Partners
    who append a parameter to every URL do not know the shop's own keys; but the shop's URL may have
    been `/product?pid=96` before `?partner=portal` was put in between. Changes `reasons` in place.
    """
    data = load_network_data()
    names_product = _names_product(path)
    for index in range(1, len(params)):
        previous, param = params[index - 1], params[index]
        is_glued = param.delimiter == "?"
        if is_glued and not reasons[index - 1]:
            reasons[index - 1] = data.shop.tracker_of(previous.key)
        follows_tracker = is_glued and reasons[index - 1] and not reasons[index]
        if follows_tracker and names_product and param.key in data.ids:
            tracker = previous.key[:_QUOTED_KEY_LENGTH]
            reasons[index] = f"glued to the tracker {tracker}; the product is named before it"
        names_product = names_product or (reasons[index - 1] is None and bool(previous.value))


def _names_product(path: str) -> bool:
    segments = [segment for segment in path.lower().split("/") if segment]
    if len(segments) < 2:
        return False
    # A last segment such as `product.php` names the template of all product pages.
    return segments[-1].partition(".")[0] not in load_network_data().scripts
