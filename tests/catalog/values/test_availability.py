"""Availability phrases of the languages of Europe and East Asia, and phrases that offer a
notification.
"""

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
    ("In stock: no", "out_of_stock"),
    ("In stock? No", "out_of_stock"),
    ("Auf Lager: nein", "out_of_stock"),
    ("В наличии: нет", "out_of_stock"),
    ("Skladem: ne", "out_of_stock"),
    ("In stock: yes", "in_stock"),
    ("В наличии: да", "in_stock"),
    ("In stock: 12", "in_stock"),
    ("Available: November", "in_stock"),
]
# Usual phrases: in stock, out of stock, and delivered later; separated by bars.
PHRASES = {
    "cs": (
        "Skladem | Skladem > 5 ks | Skladem (3 ks) | Dostupné ihned | Na skladě v prodejně",
        "Není skladem | Vyprodáno | Nedostupné | Momentálně není skladem | Brzy skladem | Skladem: 0",
        "Na objednávku | Předobjednávka",
    ),
    "sk": (
        "Skladom | Skladom viac ako 5 ks | Na sklade",
        "Nie je skladom | Vypredané | Momentálne nedostupné | Čoskoro skladom",
        "Na objednávku | Predobjednávka",
    ),
    "pl": (
        "Dostępny | W magazynie | Na stanie: 4 szt. | Produkt dostępny od ręki",
        "Niedostępny | Brak w magazynie | Brak towaru | Wyprzedane | Produkt nie jest dostępny"
        " | Wkrótce dostępny | Chwilowy brak",
        "Na zamówienie | Przedsprzedaż",
    ),
    "hu": (
        "Raktáron | Készleten van | Azonnal szállítható | Elérhető",
        "Nincs raktáron | Nincs készleten | Elfogyott | Jelenleg nem elérhető | Hamarosan újra raktáron",
        "Előrendelhető | Rendelésre",
    ),
    "ro": (
        "În stoc | In stoc | Disponibil | Stoc limitat",
        "Nu este în stoc | Stoc epuizat | Indisponibil | Lipsă stoc",
        "Precomandă | La comandă",
    ),
    "ru": (
        "В наличии | Есть в наличии | На складе | Есть на складе: 12 шт. | Товар доступен"
        " | Осталось 3 шт.",
        "Нет в наличии | Нет на складе | Распродано | Товар закончился | Временно отсутствует"
        " | Ожидается поступление | Скоро в продаже | Снят с производства | Не в наличии"
        " | Недоступен",
        "Под заказ | Предзаказ",
    ),
    "uk": ("В наявності | Є на складі", "Немає в наявності | Закінчився", "Під замовлення"),
    "bg": (
        "В наличност | Наличен | На склад",
        "Няма наличност | Не е наличен | Изчерпан",
        "По поръчка",
    ),
    "tr": (
        "Stokta var | Stokta | Ürün stokta mevcut | STOKTA VAR",
        "Stokta yok | Tükendi | Stokları tükendi | Yakında stokta | Şu anda mevcut değil | TÜKENDİ",
        "Ön sipariş",
    ),
    "sv": (
        "I lager | Finns i lager | Finns i webblager: i lager | Tillgänglig",
        "Ej i lager | Inte i lager | Slut i lager | Slutsåld | Tillfälligt slut | Snart i lager",
        "Beställningsvara | Förbeställ",
    ),
    "da": (
        "På lager | Få på lager",
        "Ikke på lager | Udsolgt | Snart på lager igen",
        "Bestillingsvare",
    ),
    "nb": ("På lager | Flere enn 20 på lager", "Ikke på lager | Utsolgt", "Forhåndsbestill"),
    "fi": (
        "Varastossa | Saatavilla | Heti varastossa",
        "Ei varastossa | Loppu varastosta | Loppuunmyyty | Ei saatavilla",
        "Tilaustuote | Ennakkotilaus",
    ),
    "is": ("Til á lager", "Ekki til á lager | Uppselt", "Sérpöntun"),
    "et": ("Laos | Saadaval", "Ei ole laos | Otsas | Läbi müüdud", "Ettetellimine"),
    "lv": ("Ir noliktavā | Pieejams", "Nav noliktavā | Nav pieejams | Izpārdots", "Pēc pasūtījuma"),
    "lt": (
        "Yra sandėlyje | Prekė yra",
        "Nėra sandėlyje | Išparduota | Prekės nėra",
        "Pagal užsakymą",
    ),
    "hr": ("Na zalihi | Dostupno", "Nije na zalihi | Rasprodano | Nedostupno", "Po narudžbi"),
    "sl": ("Na zalogi", "Ni na zalogi | Razprodano", "Po naročilu"),
    "el": (
        "Διαθέσιμο | Άμεσα διαθέσιμο | ΔΙΑΘΕΣΙΜΟ | Σε απόθεμα | Διαθέσιμος",
        "Μη διαθέσιμο | Δεν είναι διαθέσιμο | Εξαντλήθηκε | ΕΞΑΝΤΛΗΜΕΝΟ | Σύντομα διαθέσιμο",
        "Κατόπιν παραγγελίας | Προπαραγγελία",
    ),
    "pt": (
        "Em stock | Em estoque | Disponível",
        "Esgotado | Indisponível | Não disponível | Sem stock | Fora de estoque",
        "Pré-venda | Sob encomenda",
    ),
    "ja": (
        "在庫あり | 在庫有り | 在庫：あり | 残りわずか | 在庫あり（3点） | 残り2点",
        "在庫なし | 在庫切れ | 品切れ | 売り切れ | 売切 | 完売しました | 入荷待ち | 販売終了"
        " | 再入荷お知らせ | ただいま品切れ中です",
        "予約受付中 | お取り寄せ | 受注生産",
    ),
    "zh": (
        "有货 | 现货 | 現貨 | 有库存 | 尚有庫存 | 现货，24小时内发货",
        "缺货 | 缺貨 | 无货 | 暂无现货 | 没有库存 | 售罄 | 已售完 | 補貨中 | 到货通知",
        "预售 | 預購 | 预订",
    ),
    "ko": (
        "재고 있음 | 재고있음 | 구매 가능 | 판매중 | 3개 남음",
        "품절 | 재고 없음 | 일시품절 | 매진 | 입고 예정 | 판매중지 | 재입고 알림 신청",
        "예약 판매 | 주문 제작",
    ),
}


def each_phrase() -> list[tuple[str, str]]:
    """Return the phrases of `PHRASES` with their meanings."""
    cases: list[tuple[str, str]] = []
    for phrases_of_language in PHRASES.values():
        meanings = ("in_stock", "out_of_stock", "preorder")
        for phrases, meaning in zip(phrases_of_language, meanings, strict=True):
            cases += [(phrase.strip(), meaning) for phrase in phrases.split("|")]
    return cases


@pytest.mark.parametrize(("phrase", "meaning"), each_phrase())
def test_phrases_of_languages(phrase: str, meaning: str) -> None:
    """The usual phrases are read in each language, in upper case and inside a sentence, too."""
    assert availability.normalise_availability(phrase) == meaning
    assert availability.normalise_availability(f"({phrase.upper()})") == meaning


@pytest.mark.parametrize(
    "text", ["Lager", "Stock", "Blå stol", "Skladba", "Лампа настольная", "在宅", "현대", "Laosa"]
)
def test_other_words(text: str) -> None:
    """Words about something else say nothing about availability."""
    assert availability.normalise_availability(text) is None


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
