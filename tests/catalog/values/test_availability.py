"""Availability phrases that offer a notification, in the languages of Europe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.values import availability

OFFERS_OF_A_NOTIFICATION = [
    "Notify me when available",
    "Notify me when it's back in stock",
    "Email me when available",
    "Get notified when back in stock",
    "Let me know when this is available",
    "Alert me when in stock",
    "Back in stock alert",
    "Back in stock? Get notified",
    "When available, notify me",
    "Join the waiting list",
    "Subscribe for availability",
    "I want to be informed when available",
    "Available soon - notify me",
    "Jetzt vormerken, wenn wieder lieferbar",
    "Verfügbarkeitsbenachrichtigung",
    "Mandami una mail quando disponibile",
    "Fammi sapere quando è disponibile",
    "Laat het me weten als het op voorraad is",
    "Maila mig när den finns i lager",
    "Upozorniť, keď bude skladom",
    "Узнать о поступлении",
    "Benachrichtigen Sie mich, wenn verfügbar",
    "Benachrichtigung bei Verfügbarkeit",
    "Benachrichtigen, sobald lieferbar",
    "E-Mail, wenn wieder auf Lager",
    "Informieren Sie mich, sobald der Artikel lieferbar ist",
    "Bei Verfügbarkeit benachrichtigen",
    "Sobald verfügbar, benachrichtigen",
    "Mich benachrichtigen, wenn wieder vorrätig",
    "Prévenez-moi lorsque le produit est disponible",
    "Me prévenir quand disponible",
    "Être alerté du retour en stock",
    "M'avertir dès que disponible",
    "Alerte de retour en stock",
    "Avísame cuando esté disponible",
    "Avisarme cuando haya stock",
    "Notificarme cuando esté disponible",
    "Avise-me quando disponível",
    "Avise-me quando chegar",
    "Notifique-me quando estiver disponível",
    "Avvisami quando disponibile",
    "Avvertimi quando torna disponibile",
    "Notificami quando sarà disponibile",
    "Laat me weten wanneer beschikbaar",
    "Mail mij wanneer op voorraad",
    "Waarschuw mij zodra leverbaar",
    "Houd mij op de hoogte als dit weer op voorraad is",
    "Meddela mig när den finns i lager",
    "Bevaka – meddela när åter i lager",
    "Giv mig besked når varen er på lager",
    "Få besked når varen er tilgængelig",
    "Varsle meg når varen er på lager",
    "Gi meg beskjed når tilgjengelig",
    "Ilmoita kun saatavilla",
    "Ilmoita minulle, kun tuotetta on varastossa",
    "Láttu mig vita þegar varan er fáanleg",
    "Powiadom mnie o dostępności",
    "Powiadom, gdy produkt będzie dostępny",
    "Upozornit, až bude skladem",
    "Hlídat dostupnost",
    "Upozorniť na dostupnosť",
    "Értesítsen, ha újra elérhető",
    "Anunță-mă când este disponibil",
    "Notifică-mă când revine în stoc",
    "Уведоми ме при наличност",
    "Сообщить о поступлении",
    "Уведомить, когда появится в наличии",
    "Повідомити про наявність",
    "Повідомити, коли з'явиться",
    "Obavijesti me kada bude dostupno",
    "Obavesti me kada bude na stanju",
    "Obvesti me, ko bo na zalogi",
    "Teavita mind, kui on saadaval",
    "Paziņot, kad būs pieejams",
    "Pranešti, kai bus prekyboje",
    "Ειδοποίησέ με όταν είναι διαθέσιμο",
    "Gelince haber ver",
    "Stoğa gelince haber ver",
    "Avisa'm quan estigui disponible",
    "Sold out. Notify me when available",
    "Ausverkauft – benachrichtigen Sie mich, wenn wieder verfügbar",
]
STATEMENTS = [
    ("Available soon", "out_of_stock"),
    ("Bald wieder lieferbar", "out_of_stock"),
    ("Bientôt disponible", "out_of_stock"),
    ("Ships when available", None),
    ("Versand, sobald verfügbar", None),
    ("Sofort lieferbar, wenn Sie bis 12 Uhr bestellen", "in_stock"),
    ("In stock. Ships when it is paid", "in_stock"),
    ("In stock. Notify me when the price drops", "in_stock"),
    ("In stock", "in_stock"),
    ("Auf Lager. Preisalarm: benachrichtigen", "in_stock"),
    ("Sofort lieferbar | Bei Preissenkung benachrichtigen", "in_stock"),
    ("En stock. M'alerter en cas de baisse de prix", "in_stock"),
    ("Available now! Get notified about offers", "in_stock"),
    ("Disponibile", "in_stock"),
    ("Op voorraad - mail mij aanbiedingen", "in_stock"),
    ("Wieder verfügbar", "in_stock"),
    ("Back in stock", "in_stock"),
    ("In stock Notify me when back in stock", "in_stock"),
    ("Pre-order now. Notify me when available", "preorder"),
    ("Notify me", None),
    ("Notify me when the price drops", None),
    ("Información: disponible en 3 días", "in_stock"),
    ("Disponible, 3 avis", "in_stock"),
    ("Reminder", None),
]


@pytest.mark.parametrize("phrase", OFFERS_OF_A_NOTIFICATION)
def test_an_offer_to_notify_is_not_in_stock(phrase: str) -> None:
    """Only an offer that is not in stock is announced when it is."""
    assert availability.normalise_availability(phrase) == "out_of_stock"
    assert availability.normalise_availability(phrase.upper()) == "out_of_stock"


@pytest.mark.parametrize(("phrase", "meaning"), STATEMENTS)
def test_a_statement_beside_a_notification_counts(phrase: str, meaning: str | None) -> None:
    """A statement of its own goes before the notification, and one about prices says nothing."""
    assert availability.normalise_availability(phrase) == meaning


@given(
    st.lists(
        st.sampled_from(
            ["notify me", "when", "in stock", "sold out", ". ", ", ", "wenn", "lager", "İ"]
        ),
        max_size=9,
    ).map(" ".join)
)
def test_any_phrase_settles(phrase: str) -> None:
    """Any phrase means one of three things, or none."""
    assert availability.normalise_availability(phrase) in (
        None,
        "in_stock",
        "out_of_stock",
        "preorder",
    )
