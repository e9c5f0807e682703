"""Which parameters of a link track, and why; all others stay, for losing a variant is worse than leaving a tracker.

Hübscher 2018 deletes every key that stands on one list. Here a key is judged where it stands: some keys track on every
host, some on one only; a shop's own link may shed `partner=...`, which elsewhere could mean anything; a vague key such
as `source` goes only when its value names a portal or a channel; a letter's receiver stays on a link that ends a
subscription.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from url_cleaner.knowledge.providers import Keys, knowledge
from url_cleaner.urls.link import Link, unescape
from url_cleaner.urls.query import Parameter, joined, parameters

if TYPE_CHECKING:
    from url_cleaner.knowledge.lists import Lists

_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;?#]*", re.IGNORECASE)
_TEXT = ":~:"


def _nobody(_key: str) -> None:
    """What a list that is not there says."""


@dataclass(frozen=True)
class Judge:
    """Knows the keys that track on one host; `home` where the link is the shop's own."""

    here: tuple[Keys, ...]
    own: frozenset[str] = frozenset()
    home: bool = False
    keeps_mail: bool = False
    listed: Callable[[str], str | None] = _nobody

    @classmethod
    def of(
        cls, link: Link, home: bool, own: Collection[str], lists: "Lists | None" = None
    ) -> "Judge":
        """The judge of this link's parameters."""
        known = knowledge()
        text = f"{link.path}?{link.query}".lower()
        return cls(
            here=tuple(known.keys_at(link.host, link.path)),
            own=frozenset(key.lower() for key in own),
            home=home,
            keeps_mail=any(mark in text for mark in known.mail_marks),
            listed=partial(lists.tracks, link) if lists else _nobody,
        )

    def reason(self, param: Parameter) -> str | None:
        """Why this parameter tracks; None where it does not, or nobody knows."""
        known, key = knowledge(), param.key
        if key in self.own:
            return "tracks in this shop"
        if by := known.mail.by(key):
            return None if self.keeps_mail else f"names the receiver of a letter to {by}"
        if by := known.anywhere.by(key):
            return by
        for keys in self.here:
            if by := keys.by(key):
                return f"{by} on its own site"
        return self._of_a_shop(key, param.value) or self.listed(key)

    def _of_a_shop(self, key: str, value: str) -> str | None:
        """What tracks in shops, where the link is one's own or the value leaves no doubt."""
        known, name = knowledge(), unescape(value).lower()
        by = known.shop.by(key)
        if by and self.home:
            return by
        if (by or key in known.vague) and (
            name in known.portals or (self.home and name in known.channels)
        ):
            return f"names a portal or channel: {value[:40]}"
        return None


def strip(link: Link, judge: Judge) -> tuple[Link, list[str]]:
    """The link without what tracks, and a reason for everything taken off."""
    path, reasons = _strip_path(link)
    query, removed = _strip_query(link.query, path, judge)
    fragment, more = _strip_fragment(link.fragment, judge)
    return replace(link, path=path, query=query, fragment=fragment), [*reasons, *removed, *more]


def _strip_path(link: Link) -> tuple[str, list[str]]:
    """Session ids stand behind a semicolon, Amazon's `ref=` in a segment of its own."""
    path, sessions = _SESSION.subn("", link.path) if ";" in link.path else (link.path, 0)
    reasons = [";jsessionid: session"] * bool(sessions)
    if starts := knowledge().segments_at(link.host):
        kept = [segment for segment in path.split("/") if not segment.startswith(starts)]
        if (shorter := "/".join(kept)) != path:
            path, reasons = shorter, [*reasons, "ref= in the path: tracks on its own site"]
    return path, reasons


def _strip_query(query: str, path: str, judge: Judge) -> tuple[str, list[str]]:
    params = parameters(query)
    reasons = _judged(params, judge)
    _judge_glued(params, reasons, path)
    return joined(params, [reason is None for reason in reasons]), _told(params, reasons)


def _strip_fragment(fragment: str, judge: Judge) -> tuple[str, list[str]]:
    """A fragment may carry campaign tags as a query does; a text directive only says what to mark on the page."""
    shown, directive, _ = fragment.partition(_TEXT)
    told = [f"#{_TEXT}text: what to mark on the page"] if directive else []
    params = parameters(shown)
    reasons = [judge.reason(param) if "=" in param.text else None for param in params]
    return joined(params, [reason is None for reason in reasons]), [
        *_told(params, reasons, "#"),
        *told,
    ]


def _judged(params: Sequence[Parameter], judge: Judge) -> list[str | None]:
    """A reason or None per parameter; a text that comes again is judged once, for a hostile query repeats itself."""
    seen: dict[str, str | None] = {"": None}
    for param in params:
        if param.text not in seen:
            seen[param.text] = judge.reason(param)
    return [seen[param.text] for param in params]


def _told(params: Sequence[Parameter], reasons: Sequence[str | None], mark: str = "") -> list[str]:
    return [
        f"{mark}{param.key[:60]}: {why}" for param, why in zip(params, reasons, strict=True) if why
    ]


def _judge_glued(params: Sequence[Parameter], reasons: list[str | None], path: str) -> None:
    """`?partner=portal?pid=31`: an id that was glued to a tracker is the tracker's, unless only it names the product.

    Whoever glues a parameter to any link whatsoever does not know the shop's own keys. But the shop's link may have
    been `/product?pid=96` before somebody put `?partner=portal` in between: where nothing before names a product, it
    stays.
    """
    known = knowledge()
    named = _names_a_product(path)
    for at in range(1, len(params)):
        before, this = params[at - 1], params[at]
        if this.mark == "?" and not reasons[at - 1]:
            reasons[at - 1] = known.shop.by(before.key)
        if (
            this.mark == "?"
            and reasons[at - 1]
            and not reasons[at]
            and named
            and this.key in known.ids
        ):
            reasons[at] = f"glued to the tracker {before.key[:60]}; the product is named before it"
        named = named or (reasons[at - 1] is None and bool(before.value))


def _names_a_product(path: str) -> bool:
    segments = [segment for segment in path.lower().split("/") if segment]
    return len(segments) > 1 and segments[-1].partition(".")[0] not in knowledge().scripts
