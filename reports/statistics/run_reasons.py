"""Reasons for which runs end, as they are stored, as texts for readers.

A run stores the message of the error that ended it. Each template is the message of one error, and
has to stay as that is; the error of a program beside Scout is shown as it is.
"""

from catalog.language.languages import Language
from catalog.language.recognition import StoredTexts
from catalog.language.sentences import Sentence, gettext_noop
from reports.statistics.page_reasons import PAGE_REASONS

RUN_REASONS = StoredTexts(
    templates=(
        # Crawl.
        gettext_noop(
            "{host} shows a captcha instead of its pages: ask the shop to let Scout in, or crawl "
            "slower ('scout shop set')"
        ),
        gettext_noop(
            "{host} asks for a login instead of showing its pages: Scout reads what anybody may see"
        ),
        gettext_noop(
            "{host} answers with {reason} only: ask the shop to let Scout in, or crawl slower"
        ),
        gettext_noop(
            "{host} does not answer any more ({reason}): run the same command again later"
        ),
        gettext_noop("{host} cannot be reached ({reason}): check the shop's URL"),
        gettext_noop("{url} may be asked between {window} only: run the same command then"),
        gettext_noop("{url} gave no page to read, only: {reasons}. Nothing can be compared"),
        gettext_noop(
            "{host} is a private address: add the shop with --allow-private where that is meant"
        ),
        gettext_noop(
            "the pages of {url} are empty without JavaScript ({number_empty} of {number_pages} "
            "looked at): 'scout shop set {shop} --javascript' has a browser read them"
        ),
        gettext_noop(
            "the crawler ended unexpectedly ({reason}): see {file}, then run the same command again"
        ),
        # Rules.
        gettext_noop(
            "the catalog has no offer of {shop}: import some with 'scout catalog import {name} "
            "SOURCE'"
        ),
        gettext_noop(
            "none of the {number_offers} known offers of {shop} was found among {number_pages} "
            "crawled pages: look at their links with 'scout catalog show', and at the crawl with "
            "'scout shop show'"
        ),
        gettext_noop("shop {shop} has no rules yet: run 'scout learn {name}' first"),
        # Machine.
        gettext_noop("no space left for the report in {folder}: free some, then report again"),
        gettext_noop(
            "no space left for page bodies in {folder}: free some and run the same command again"
        ),
        gettext_noop(
            "no space left for {name}: free some, then run the same command again; nothing is lost"
        ),
        gettext_noop(
            "page bodies in {folder} cannot be reached: {reason} (see the setting 'bodies_url')"
        ),
        gettext_noop(
            "the run used {number_used} MB, more than run_memory allows ({number_limit} MB), and "
            "was stopped; the next run resumes it"
        ),
    )
)


def run_reason_sentence(reason: str) -> Sentence:
    """Return the sentence of a stored reason; the reason of a page within it is one as well."""
    sentence = RUN_REASONS.recognize(reason)
    page_reason = sentence.arguments.get("reason")
    if not isinstance(page_reason, str):
        return sentence
    arguments = {**sentence.arguments, "reason": PAGE_REASONS.recognize(page_reason)}
    return Sentence(sentence.template, arguments)


def translate_run_reason(reason: str | None, language: Language) -> str:
    """Return a stored reason in a language; "" for None."""
    # Stored reasons are English already.
    if not reason or not language.is_translated:
        return reason or ""
    return run_reason_sentence(reason).in_language(language)
