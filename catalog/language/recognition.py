"""Recognition of stored texts as sentences, so that they can be shown in another language.

Crawler, parser, matcher and import store reasons as English texts. Whoever shows them to readers
lists their templates; a text that fits one is translated, any other is shown as it is.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType

from catalog.language.languages import Language
from catalog.language.sentences import Argument, Money, Sentence

_FIELD = re.compile(r"\{(\w+)\}")
# Characters of a text that is compared with the templates; a bound against hostile input.
_MAX_TEXT_LENGTH = 500
# Patterns of the fields that are not any text, by the begin of their names.
_FIELD_PATTERNS = {
    "number": r"[\d,]+",
    "price": r"\d+(?:\.\d+)?",
    "ratio": r"\d(?:\.\d+)?",
    "share": r"[<>]?\d+(?:\.\d+)?%",
}


class StoredTexts:
    """Texts as they are stored, with their messages for readers.

    `messages` are by the whole stored text. `templates` have fields, more special ones first: a
    field with a name that begins with `number` is a count, `price` an amount, `share` a percentage,
    `ratio` a share of 1; any other field is a text.

    >>> texts = StoredTexts(["price {price} in the shop"], {"soft 404": "page not found"})
    >>> texts.recognize("soft 404").text
    'page not found'
    >>> texts.recognize("price 3.50 in the shop").arguments
    {'price': Money(amount=Decimal('3.50'), currency=None)}
    """

    def __init__(
        self, templates: Sequence[str] = (), messages: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.messages = messages
        self._patterns = [(_pattern(template), template) for template in templates]

    def translate(self, text: str | None, language: Language) -> str:
        """Return a stored text in a language; "" for None."""
        if not text:
            return ""
        # Stored texts are English already.
        if not language.is_translated:
            return self.messages.get(text, text)
        return self.recognize(text).in_language(language)

    @lru_cache(maxsize=4096)  # noqa: B019 - the few instances are constants of modules
    def recognize(self, text: str) -> Sentence:
        """Return the sentence that a stored text was made of."""
        if text in self.messages:
            return Sentence(self.messages[text])
        if len(text) <= _MAX_TEXT_LENGTH:
            for pattern, template in self._patterns:
                if match := pattern.fullmatch(text):
                    fields = match.groupdict().items()
                    return Sentence(template, {name: _argument(name, raw) for name, raw in fields})
        return Sentence(text)


def _pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of a template's texts."""
    pieces = []
    for index, piece in enumerate(_FIELD.split(template)):
        if index % 2:
            kind = re.match(r"[a-z]+", piece)
            inner = _FIELD_PATTERNS.get(kind[0] if kind else "", ".{1,200}?")
            pieces.append(f"(?P<{piece}>{inner})")
        else:
            pieces.append(re.escape(piece))
    return re.compile("".join(pieces))


def _share(raw: str) -> float:
    """Return the share of a percentage; one that was cut off at a bound stays beyond it."""
    share = float(Decimal(raw.strip("<>%")) / 100)
    if raw.startswith("<"):
        return share / 2
    if raw.startswith(">"):
        return (share + 1) / 2
    return share


def _argument(name: str, raw: str) -> Argument:
    if name.startswith("number"):
        return int(raw.replace(",", "") or 0)
    if name.startswith("price"):
        return Money(Decimal(raw), None)
    if name.startswith("ratio"):
        return float(raw)
    if name.startswith("share"):
        return _share(raw)
    return raw
