"""Jinja templates in the language of the reader.

One environment writes one language: make one per language, and pass each its `Language`.
"""

from collections.abc import Callable
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket

from catalog.language.languages import Language
from catalog.language.sentences import Sentence


class CompiledTemplates(BytecodeCache):
    """Compiled templates in memory, those of all environments.

    The code of a template is the same in all languages. A process that was forked later has it, too.
    """

    def __init__(self) -> None:
        self._codes: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template the code that its source was compiled to, if there is any."""
        checksum, code = self._codes.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        if bucket.code is not None:
            self._codes[bucket.key] = (bucket.checksum, bucket.code)


_COMPILED = CompiledTemplates()


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
        bytecode_cache=_COMPILED,
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
