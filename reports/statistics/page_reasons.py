"""Reasons that crawler, parser and import store with pages and rows, as texts for readers."""

from catalog.language.recognition import StoredTexts
from catalog.language.sentences import gettext_noop

# Templates with fields; texts without are looked up as they are.
PAGE_REASONS = StoredTexts(
    (
        gettext_noop("like template {template}"),
        gettext_noop("unlike the shop's offer pages ({similarity})"),
        gettext_noop("the title is only {number}% sure"),
        gettext_noop("unreadable: {error}"),
        gettext_noop("trap: endless {part}"),
        gettext_noop("sitemap: {reason}"),
        gettext_noop("archive: {reason}"),
        gettext_noop("error: {error}"),
        gettext_noop("http {status}"),
    )
)
REJECTION_REASONS = StoredTexts(
    (
        gettext_noop("has {number_row} columns, the header has {number_header}"),
        gettext_noop("is longer than {number} characters"),
        gettext_noop("is no CSV: {error}"),
        gettext_noop("is no JSON: {error}"),
        gettext_noop("has the id {id} of line {number} again"),
        gettext_noop("has a start tag <{tag}> that is not well-formed"),
        gettext_noop("has no end: <{tag}> is not closed"),
        gettext_noop("has {tag}> without a start"),
        gettext_noop("ean that {reason}"),
        gettext_noop("ean {reason}"),
    )
)
# Texts without fields, as `crawler`, `parser` and `catalog.feeds` store them.
CONSTANT_REASONS = (
    # States of pages.
    gettext_noop("fetched"),
    gettext_noop("redirected"),
    gettext_noop("gone"),
    gettext_noop("refused"),
    gettext_noop("failed"),
    gettext_noop("pending"),
    gettext_noop("leased"),
    # Links that are not visited.
    gettext_noop("cart"),
    gettext_noop("checkout"),
    gettext_noop("account"),
    gettext_noop("wish list"),
    gettext_noop("compare"),
    gettext_noop("share, print or feed"),
    gettext_noop("not a link"),
    gettext_noop("not a page"),
    gettext_noop("redirector"),
    gettext_noop("other host"),
    gettext_noop("robots.txt"),
    gettext_noop("over the page limit"),
    gettext_noop("over the byte limit"),
    gettext_noop("over the time limit"),
    gettext_noop("outside the shop's hours"),
    gettext_noop("too many hops"),
    gettext_noop("dead link"),
    gettext_noop("not where its canonical would be"),
    gettext_noop("same page as its canonical"),
    gettext_noop("same page in another session"),
    gettext_noop("trap: pages alike"),
    gettext_noop("trap: URL too long"),
    gettext_noop("trap: path too deep"),
    # Responses.
    gettext_noop("not html"),
    gettext_noop("too large"),
    gettext_noop("hostile page"),
    gettext_noop("unreadable answer"),
    gettext_noop("absurd status code"),
    gettext_noop("no secure connection"),
    gettext_noop("captcha"),
    gettext_noop("login wall"),
    gettext_noop("timeout"),
    gettext_noop("no such host"),
    gettext_noop("connection refused"),
    gettext_noop("cut off"),
    gettext_noop("no connection"),
    gettext_noop("soft 404"),
    gettext_noop("redirect"),
    gettext_noop("redirect loop"),
    gettext_noop("not saved"),
    gettext_noop("sitemap not read"),
    gettext_noop("no title found"),
    gettext_noop("no price found, and no known offer to learn from"),
    # Rows of the feed.
    gettext_noop("has neither a title nor a link"),
    gettext_noop("has a quote that is not closed"),
    gettext_noop("is no JSON object"),
    gettext_noop("is no JSON: nested too deeply"),
    gettext_noop("no reason given"),
    gettext_noop("other reasons"),
)
