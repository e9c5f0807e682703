"""Jinja templates in the language of the reader.

One environment writes one language: make one per language, and pass each its `Language`.
"""

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from catalog.language.languages import Language
from catalog.language.sentences import Sentence


def template_environment(package: str, language: Language) -> Environment:
    """Return an environment for the templates of a package that writes a language.

    Unknown names are errors, and all templates but `*.txt` escape their values. Templates have
    `_("...", name=value)` and `{% trans %}...{% pluralize %}...{% endtrans %}`, the filters
    `translate` (a message that is a value), `sentence`, `count`, `share`, `change`, `money`,
    `price`, `totals`, `date` and `minute`, and `language` with the code.
    """
    environment = Environment(
        loader=PackageLoader(package),
        # Texts come from shops. Plain text has no markup, all else is escaped.
        autoescape=select_autoescape(disabled_extensions=["txt"], default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.add_extension("jinja2.ext.i18n")
    # Line breaks and indents in a template are no part of its texts.
    environment.policies["ext.i18n.trimmed"] = True
    install: Callable[..., None] = environment.install_gettext_translations  # type: ignore[attr-defined]
    install(language, newstyle=True)
    filters: dict[str, Callable[..., Any]] = {
        "translate": language.gettext,
        "sentence": lambda sentence: Sentence.in_language(sentence, language),
        "count": language.count,
        "share": language.share,
        "change": language.change,
        "money": language.money,
        "price": language.price,
        "totals": language.totals,
        "date": language.date,
        "minute": language.minute,
    }
    environment.filters.update(filters)
    environment.globals["language"] = language.code
    return environment
