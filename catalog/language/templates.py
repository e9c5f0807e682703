"""Jinja templates in the language of the reader.

One environment writes one language: make one per language, and pass each its `Language`.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any
from urllib.parse import urlsplit

from jinja2 import (
    Environment,
    FileSystemBytecodeCache,
    PackageLoader,
    StrictUndefined,
    select_autoescape,
)
from jinja2.bccache import Bucket

from catalog.language.languages import Language
from catalog.language.sentences import Sentence

# Permissions of a compiled template: those of Python's compiled modules.
FILE_MODE = 0o644


class CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates, those of all environments: in memory, and beside Scout's compiled modules.

    The code of a template is the same in all languages. A process that was forked later has it, too.
    `folder` is the one from which Python runs compiled modules, so nothing is trusted that was not
    before. A folder that is missing or cannot be written to costs only the time to compile.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), "jinja-%s.cache")
        self._codes: dict[str, tuple[str, CodeType]] = {}
        # Code depends on Jinja, and on the options that this module sets.
        self._compiler = f"{version('jinja2')} {sha256(Path(__file__).read_bytes()).hexdigest()}"

    def get_source_checksum(self, source: str) -> str:
        """Return a checksum of a template and of what compiles it."""
        return super().get_source_checksum(f"{self._compiler}{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template the code that its source was compiled to, if there is any."""
        checksum, code = self._codes.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code
            return
        # A power cut may have left a part of the file, or anything.
        with suppress(Exception):
            super().load_bytecode(bucket)
        if not isinstance(bucket.code, CodeType):
            bucket.reset()
        self._remember(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        self._remember(bucket)
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)
                # Jinja makes a file that only this user can read.
                Path(self._get_cache_filename(bucket)).chmod(FILE_MODE)

    def _remember(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key] = (bucket.checksum, bucket.code)


_COMPILED = CompiledTemplates(Path(cache_from_source(__file__)).parent)


def safe_link(url: str | None) -> str | None:
    """Return the URL if it is safe to link to (http or https with a host), else None.

    >>> safe_link("https://shop.example/p/1"), safe_link("javascript:alert(1)"), safe_link("//x")
    ('https://shop.example/p/1', None, None)
    """
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    if parts.scheme in ("http", "https") and parts.netloc:
        return url
    return None


def template_environment(package: str, language: Language) -> Environment:
    """Return an environment for the templates of a package that writes a language.

    Unknown names are errors, and all templates but `*.txt` escape their values. Templates have
    `_("...", name=value)` and `{% trans %}...{% pluralize %}...{% endtrans %}`, the filters
    `translate` (a message that is a value), `sentence`, `count`, `share`, `change`, `money`,
    `price`, `totals`, `date`, `minute` and `safe_link`, and `language` with the code.
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
        "safe_link": safe_link,
    }
    environment.filters.update(filters)
    environment.globals["language"] = language.code
    return environment
