"""Reasons that crawler, parser and import store with pages and rows, as texts for readers.

The stored texts are short names, which programs compare. Readers get the messages here.
"""

from collections.abc import Callable

from catalog.language.languages import Language
from catalog.language.recognition import StoredTexts
from catalog.language.sentences import gettext_noop

PAGE_REASONS = StoredTexts(
    templates=(
        gettext_noop("like template {template}"),
        gettext_noop("unlike the shop's offer pages ({ratio})"),
        gettext_noop("the title is only {number}% sure"),
        gettext_noop("unreadable: {error}"),
        gettext_noop("trap: endless {part}"),
        gettext_noop("trap: list filtered endlessly {part}"),
        gettext_noop("page with more than {number} links"),
        gettext_noop("page of the probe: {reason}"),
        gettext_noop("ended its process: {reason}"),
        gettext_noop("sitemap: {reason}"),
        gettext_noop("archive: {reason}"),
        gettext_noop("error: {error}"),
        gettext_noop("http {status}"),
    ),
    messages={
        # States of pages.
        "fetched": gettext_noop("fetched"),
        "redirected": gettext_noop("redirected"),
        "gone": gettext_noop("gone"),
        "refused": gettext_noop("skipped"),
        "failed": gettext_noop("failed"),
        "pending": gettext_noop("waiting"),
        "leased": gettext_noop("waiting"),
        # Pages of catalog offers without another reason.
        "page fetched": gettext_noop("fetched"),
        "page redirected": gettext_noop("redirected"),
        "page gone": gettext_noop("page not found"),
        "page refused": gettext_noop("skipped"),
        "page failed": gettext_noop("failed"),
        "page pending": gettext_noop("waiting"),
        "page leased": gettext_noop("waiting"),
        # Links that are not visited.
        "cart": gettext_noop("shopping cart"),
        "checkout": gettext_noop("checkout"),
        "account": gettext_noop("customer account"),
        "wish list": gettext_noop("wish list"),
        "compare": gettext_noop("comparison of offers"),
        "share, print or feed": gettext_noop("page for sharing, printing or a feed"),
        "not a link": gettext_noop("no valid link"),
        "not a page": gettext_noop("file, not a page"),
        "redirector": gettext_noop("redirect to another website"),
        "other host": gettext_noop("another website"),
        "robots.txt": gettext_noop("forbidden by robots.txt"),
        "over the page limit": gettext_noop("limit of pages reached"),
        "over the byte limit": gettext_noop("limit of data reached"),
        "over the time limit": gettext_noop("limit of time reached"),
        "outside the shop's hours": gettext_noop("outside the shop’s hours"),
        "stopped early": gettext_noop("not visited before the crawl was stopped"),
        "private address": gettext_noop("private address"),
        "too many hops": gettext_noop("too many links away from the first page"),
        "dead link": gettext_noop("like links that led to errors"),
        "not where its canonical would be": gettext_noop("another page has its canonical address"),
        "same page as its canonical": gettext_noop("copy of the page at its canonical address"),
        "same page in another session": gettext_noop("copy of a page with another session id"),
        "trap: pages alike": gettext_noop("trap: pages nearly alike"),
        "trap: URL too long": gettext_noop("trap: address too long"),
        "trap: path too deep": gettext_noop("trap: path too deep"),
        # Responses.
        "not html": gettext_noop("no HTML page"),
        "too large": gettext_noop("too large"),
        "hostile page": gettext_noop("page that would overload the parser"),
        "unreadable answer": gettext_noop("unreadable response"),
        "absurd status code": gettext_noop("invalid status code"),
        "no secure connection": gettext_noop("no secure connection"),
        "captcha": gettext_noop("captcha"),
        "login wall": gettext_noop("login required"),
        "timeout": gettext_noop("no response in time"),
        "no such host": gettext_noop("host not found"),
        "connection refused": gettext_noop("connection refused"),
        "cut off": gettext_noop("response cut off"),
        "no connection": gettext_noop("no connection"),
        "soft 404": gettext_noop("page not found, with the status of success"),
        "redirect": gettext_noop("redirect"),
        "redirect loop": gettext_noop("redirect loop"),
        "not saved": gettext_noop("not among the saved pages"),
        "sitemap not read": gettext_noop("sitemap could not be read"),
        "no title found": gettext_noop("no title found"),
        "no price found, and no known offer to learn from": gettext_noop(
            "no price found, and no known offer to learn from"
        ),
        # Outcomes of looking up the page of a catalog offer.
        "page found": gettext_noop("page found"),
        "not found": gettext_noop("not found"),
        "not crawled": gettext_noop("not crawled"),
        "no link": gettext_noop("no link"),
    },
)
REJECTION_REASONS = StoredTexts(
    templates=(
        gettext_noop("has {number_row} columns, the header has {number_header}"),
        gettext_noop("is longer than {number} characters"),
        gettext_noop("has a cell of more than {number} characters"),
        gettext_noop("has a quote that is not closed, or a cell of more than {number} lines"),
        gettext_noop("is no CSV: {error}"),
        gettext_noop("is no JSON: {error}"),
        gettext_noop("has the id {id} of line {number} again"),
        gettext_noop("has a start tag <{tag}> that is not well-formed"),
        gettext_noop("has no end: <{tag}> is not closed"),
        gettext_noop("has {tag}> without a start"),
    ),
    messages={
        "has a quote that is not closed": gettext_noop("has a quote that is not closed"),
        "has neither a title nor a link": gettext_noop("has neither a title nor a link"),
        "is no JSON object": gettext_noop("is no JSON object"),
        "is no JSON: nested too deeply": gettext_noop("is no JSON: nested too deeply"),
        "no reason given": gettext_noop("no reason given"),
        "other reasons": gettext_noop("other reasons"),
    },
)


def reason_filters(language: Language) -> dict[str, Callable[[str | None], str]]:
    """Return the filters of templates that show a stored reason in a language."""
    return {
        "page_reason": lambda reason: PAGE_REASONS.translate(reason, language),
        "rejection_reason": lambda reason: REJECTION_REASONS.translate(reason, language),
    }
