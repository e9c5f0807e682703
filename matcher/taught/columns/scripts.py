"""Cyrillic and Greek letters as Latin ones: union catalogues hold one work in several scripts.

Other scripts are left as they are: of Chinese characters, many have one Latin form.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from anyascii import anyascii

from matcher.dedupe.base.packed_texts import PackedTexts
from matcher.dedupe.base.records import Records, join_keys

# Runs of Greek and Cyrillic letters.
_OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0400-\u052f]+")


def romanise(text: str) -> str:
    """Return a text with its Greek and Cyrillic letters transliterated.

    >>> romanise("Хвостов, Г.: Курс физики, 2-е изд. (Éd. russe)")
    'Khvostov, G.: Kurs fiziki, 2-e izd. (Éd. russe)'
    """
    if text.isascii():
        return text
    return _OTHER_SCRIPT.sub(lambda match: anyascii(match[0]), text)


def romanise_records(records: Records) -> Records:
    """Return records with Latin letters; the same object if they have no others."""
    fields = tuple(map(_romanise_column, records.fields))
    if all(new is old for new, old in zip(fields, records.fields, strict=True)):
        return records
    return replace(records, fields=fields, texts=join_keys(fields))


def _romanise_column(values: Sequence[str]) -> Sequence[str]:
    if not any(not text.isascii() and _OTHER_SCRIPT.search(text) for text in values):
        return values
    return PackedTexts(map(romanise, values))
