"""Values of a column in one form, where it takes the column to read one of them."""

from collections.abc import Sequence
from dataclasses import replace

from matcher.dedupe.base.packed_texts import PackedTexts
from matcher.dedupe.base.records import Records, join_keys
from matcher.taught.columns.amounts import amount_form
from matcher.taught.columns.date_forms import date_forms
from matcher.taught.columns.kinds import ColumnKind


def unify_values(sides: Sequence[Records], kinds: Sequence[ColumnKind]) -> list[Records]:
    """Return the records of one table, or of two, with one form of the amounts and the dates of each
    column.
    """
    unified = [*sides]
    for number, kind in enumerate(kinds):
        columns = [side.fields[number] for side in unified]
        if kind is ColumnKind.NUMBER and (form := amount_form(columns)):
            forms = [form] * len(columns)
        elif kind is ColumnKind.DATE and (by_table := date_forms(columns)):
            forms = by_table
        else:
            continue
        for place, (side, unify) in enumerate(zip(unified, forms, strict=True)):
            fields = [*side.fields]
            fields[number] = PackedTexts(map(unify, fields[number]))
            unified[place] = replace(side, fields=tuple(fields), texts=join_keys(tuple(fields)))
    return unified
