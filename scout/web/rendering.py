"""Templates of the pages: everything is escaped, links lead to http(s) only.

A template is rendered by `Context.render`. `{{ _("text") }}` and `{% trans %}` translate, and the
filters of `catalog.language.templates` write numbers, money and times as the reader's language
does.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from tzlocal import get_localzone

from catalog.language.languages import SOURCE_LANGUAGE, Language, load_language
from catalog.language.templates import template_environment
from reports.statistics.page_reasons import reason_filters
from reports.statistics.run_reasons import translate_run_reason
from scout.web.views.labels import label_functions

LANGUAGES = {"en": "English", "de": "Deutsch"}
"""Languages of the pages, by code, each in its own words."""


def path_part(text: object) -> str:
    """Quote a text as one part of a path, such as a shop's name.

    >>> path_part("a/b c")
    'a%2Fb%20c'
    """
    return quote(str(text), safe="")


def query_link(query: Mapping[str, Any], **changes: object) -> str:
    """Return the query string with some parameters changed; None removes one.

    >>> query_link({"verdict": "missing", "brand": "A&B"}, page=2, verdict=None)
    '?brand=A%26B&page=2'
    """
    changed = {name: value for name, value in {**query, **changes}.items() if value is not None}
    return "?" + urlencode(changed, doseq=True)


@cache
def environment(code: str) -> Environment:
    """Return the environment of templates in a language."""
    language = read_language(code)
    templates = template_environment("scout.web", language)
    templates.filters |= {"path_part": path_part}
    templates.filters |= reason_filters(language)
    templates.filters["run_reason"] = partial(translate_run_reason, language=language)
    templates.globals |= {"query_link": query_link, "languages": LANGUAGES}
    templates.globals |= label_functions(language)
    return templates


@cache
def read_language(code: str) -> Language:
    """Return a language with its translations; its times are those of this machine's zone."""
    return load_language(code, get_localzone())


def render_page(template: str, language: str, values: Mapping[str, object]) -> str:
    """Fill in a template; the macros are `ui` in every one."""
    page = environment(language).get_template(template)
    return page.render(_with_macros(language, values))


def render_blocks(
    template: str, blocks: Sequence[str], language: str, values: Mapping[str, object]
) -> str:
    """Fill in some blocks of a template, for a part of a page that htmx replaces."""
    page = environment(language).get_template(template)
    context = page.new_context(_with_macros(language, values))
    return "".join("".join(page.blocks[block](context)) for block in blocks)


def _with_macros(language: str, values: Mapping[str, object]) -> dict[str, Any]:
    macros = environment(language).get_template("macros.html")
    return {**values, "ui": macros.make_module(dict(values))}


def choose_language(*wishes: str | None) -> str:
    """Return the first language of the wishes that the pages have, else English.

    A wish is a code, or the header Accept-Language.

    >>> choose_language(None, "fr"), choose_language("de-AT,en;q=0.5")
    ('en', 'de')
    """
    for wish in wishes:
        for part in (wish or "")[:200].split(","):
            code = part.partition(";")[0].strip().lower()[:2]
            if code in LANGUAGES:
                return code
    return SOURCE_LANGUAGE
