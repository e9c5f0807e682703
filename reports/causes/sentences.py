"""Sentences with arguments: texts that can be translated, and numbers in the reader's format.

A template is a constant, so that a translation can be looked up by it; the arguments are values and
not texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from reports.statistics.formatting import (
    format_count,
    format_date,
    format_money,
    format_percent,
)


@dataclass(frozen=True)
class Money:
    """Amount with its currency."""

    amount: Decimal
    currency: str | None


# A float is a share, an int a count.
Argument = str | int | float | Money | datetime | None


@dataclass(frozen=True)
class Sentence:
    """Template with the arguments of its named fields.

    >>> Sentence("{missing} offers ({share})", {"missing": 1200, "share": 0.5}).text
    '1,200 offers (50.0\N{NO-BREAK SPACE}%)'
    """

    template: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence in English."""
        texts = {name: _format(argument) for name, argument in self.arguments.items()}
        return self.template.format_map(texts)


def _format(argument: Argument) -> str:
    if isinstance(argument, str):
        return argument
    if isinstance(argument, int):
        return format_count(argument)
    if isinstance(argument, float):
        return format_percent(argument)
    if isinstance(argument, Money):
        return format_money(argument.amount, argument.currency)
    return format_date(argument)
