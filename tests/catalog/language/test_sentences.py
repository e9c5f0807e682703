"""Sentences: stored as template and arguments, shown in any language; older plain texts stay readable."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from catalog.language.languages import load_language
from catalog.language.recognition import StoredTexts
from catalog.language.sentences import Money, Sentence
from matcher.decision.reason_texts import MATCH_REASONS
from reports.statistics.page_reasons import PAGE_REASONS, REJECTION_REASONS

GERMAN = load_language("de")
MOMENT = datetime(2026, 3, 9, 14, 5, tzinfo=UTC)

SENTENCES = [
    (Sentence("no pattern found"), "no pattern found", "kein Muster gefunden"),
    (Sentence("a text {of} an earlier version"), *["a text {of} an earlier version"] * 2),
    (
        Sentence(
            "no offer from {low} upwards is listed ({listed} of {offers} offers listed)",
            {"low": Money(Decimal("1000"), "EUR"), "listed": 0, "offers": 1200},
        ),
        "no offer from €1,000 upwards is listed (0 of 1,200 offers listed)",
        "kein Angebot ab 1.000 € ist gelistet (0 von 1.200 Angeboten gelistet)",
    ),
    (
        Sentence(
            "{share} of the brand “{value}” is missing, elsewhere {elsewhere}",
            {"share": 1.0, "value": "{Nova} %(x)s", "elsewhere": 0.125},
        ),
        "100% of the brand “{Nova} %(x)s” is missing, elsewhere 12.5%",
        "100 % der Marke „{Nova} %(x)s“ fehlen, sonst 12,5 %",
    ),
    (
        Sentence(
            "the feed had this offer until the import of {date} (same {matched_by})",
            {"date": MOMENT, "matched_by": Sentence("article number")},
        ),
        "the feed had this offer until the import of 9 March 2026 (same article number)",
        "der Feed hatte dieses Angebot bis zum Import vom 9. März 2026 (erkannt an: Artikelnummer)",
    ),
]


@pytest.mark.parametrize(("sentence", "english", "german"), SENTENCES)
def test_sentences_survive_storage(sentence: Sentence, english: str, german: str) -> None:
    """A sentence read back from JSON is the same, and has its text in both languages."""
    stored = json.loads(json.dumps(sentence.as_json()))
    restored = Sentence.from_json(stored)
    assert restored == sentence
    assert hash(restored) == hash(sentence)
    assert restored.text == english
    assert restored.in_language(GERMAN).replace("\N{NO-BREAK SPACE}", " ") == german


STORED = [
    (MATCH_REASONS, "same EAN", "gleiche EAN"),
    (
        MATCH_REASONS,
        "price 1250.50 in the shop, 13.00 in the catalog",
        "Preis im Shop 1.250,50, im Katalog 13",
    ),
    (
        MATCH_REASONS,
        "variant: size 'm' in the shop, size 'l' in the catalog",
        "Variante: im Shop Größe 'm', im Katalog Größe 'l'",
    ),
    (
        MATCH_REASONS,
        "variant: 'red' in the shop, nothing in the catalog",
        "Variante: im Shop 'red', im Katalog nichts",
    ),
    (
        MATCH_REASONS,
        "the nearest catalog offer is too different (probability <0.1%)",
        "das ähnlichste Katalogangebot ist zu verschieden (Wahrscheinlichkeit <0,1 %)",
    ),
    (PAGE_REASONS, "like template 3", "wie Seitenvorlage 3"),
    (PAGE_REASONS, "soft 404", "Seite nicht gefunden, trotz Erfolgsstatus"),
    (PAGE_REASONS, "a reason of tomorrow", "a reason of tomorrow"),
    (PAGE_REASONS, None, ""),
    (REJECTION_REASONS, "is longer than 1,000,000 characters", "ist länger als 1.000.000 Zeichen"),
]


@pytest.mark.parametrize(("texts", "stored", "german"), STORED)
def test_stored_texts_are_recognised(texts: StoredTexts, stored: str | None, german: str) -> None:
    """A stored reason is shown in German with the numbers of its text; an unknown one as it is."""
    assert texts.translate(stored, GERMAN).replace("\N{NO-BREAK SPACE}", " ") == german
