"""Sentences with arguments: texts that can be translated, and numbers in the reader's format.

A template is a constant, so that a translation can be looked up by it; the arguments are values and
not texts. A sentence can be stored as JSON and shown in any language later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from catalog.language.languages import ENGLISH, Language


def gettext_noop(message: str) -> str:
    """Mark a constant as a message to translate; returns it unchanged."""
    return message


@dataclass(frozen=True, slots=True)
class Money:
    """Amount with its currency."""

    amount: Decimal
    currency: str | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """Template with the arguments of its named fields.

    Of the arguments, a float is a share, an int a count, a sentence a term that is translated, and
    a text is shown as it is. A template without arguments may be any text: one that is no message
    is shown untranslated.

    >>> Sentence("{missing} offers ({share})", {"missing": 1200, "share": 0.5}).text
    '1,200 offers (50.0%)'
    """

    template: str
    arguments: Mapping[str, "Argument"] = field(default_factory=dict)

    def __hash__(self) -> int:
        """Hash the template with the arguments."""
        return hash((self.template, *self.arguments.values()))

    @property
    def text(self) -> str:
        """The sentence in English."""
        return self.in_language(ENGLISH)

    def in_language(self, language: Language) -> str:
        """Return the sentence in a language."""
        return _render(self, language)

    def as_json(self) -> "StoredSentence":
        """Return the sentence for storage: its text alone if it has no arguments.

        >>> Sentence("same price").as_json()
        'same price'
        """
        if not self.arguments:
            return self.template
        arguments = {name: _argument_as_json(value) for name, value in self.arguments.items()}
        return {"template": self.template, "arguments": arguments}

    @classmethod
    def from_json(cls, stored: "StoredSentence") -> "Sentence":
        """Read the output of `as_json`; a plain text is that of an earlier version of Scout.

        >>> sentence = Sentence("{share} below {high}", {"share": 0.5, "high": Money(Decimal(9), None)})
        >>> Sentence.from_json(sentence.as_json()) == sentence
        True
        """
        if isinstance(stored, str):
            return cls(stored)
        arguments = {
            name: _argument_from_json(value) for name, value in stored["arguments"].items()
        }
        return cls(stored["template"], arguments)


# A float is a share, an int a count, a sentence a term.
Argument = str | int | float | Money | datetime | Sentence | None
StoredSentence = str | dict[str, Any]
"""A sentence as JSON: a text, or a template with its arguments."""


# A report shows few different sentences for many offers.
@lru_cache(maxsize=4096)
def _render(sentence: Sentence, language: Language) -> str:
    template = language.gettext(sentence.template)
    if not sentence.arguments:
        return template
    texts = {name: _format(value, language) for name, value in sentence.arguments.items()}
    return template.format_map(texts)


def _format(argument: Argument, language: Language) -> str:
    if isinstance(argument, str):
        return argument
    if isinstance(argument, int):
        return language.count(argument)
    if isinstance(argument, float):
        return language.share(argument)
    if isinstance(argument, Money):
        return language.money(argument.amount, argument.currency)
    if isinstance(argument, Sentence):
        return argument.in_language(language)
    return language.date(argument)


def _argument_as_json(argument: Argument) -> object:
    """Return an argument for JSON; types that JSON lacks are objects named after the type."""
    if isinstance(argument, float):
        return {"share": argument}
    if isinstance(argument, Money):
        return {"amount": f"{argument.amount:f}", "currency": argument.currency}
    if isinstance(argument, datetime):
        return {"time": argument.isoformat()}
    if isinstance(argument, Sentence):
        return {"sentence": argument.as_json()}
    return argument


def _argument_from_json(stored: Any) -> Argument:
    if not isinstance(stored, dict):
        argument: Argument = stored
        return argument
    if "share" in stored:
        return float(stored["share"])
    if "amount" in stored:
        return Money(Decimal(stored["amount"]), stored["currency"])
    if "time" in stored:
        return datetime.fromisoformat(stored["time"])
    return Sentence.from_json(stored["sentence"])
