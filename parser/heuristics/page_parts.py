"""Parts of a page: elements of its own offer, and those of cards, which show other pages' offers.

A card names an offer by a link to its page, and shows its price and often a button behind that
link. Category pages consist of cards, and offer pages have some of related offers. So a price or a
button belongs to the page itself unless it stands in a link to another page, or behind such a link
in an element that does not hold the page's title. `parser.page.cards` judges single elements,
without the title and the order of the page: enough for a rule that known offers confirm.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from selectolax.lexbor import LexborNode

from catalog.models import Attribute
from catalog.values import find_currency, normalise
from catalog.values.prices.price_words import CURRENT_PRICE_WORDS
from catalog.values.shop_words import is_buy_text, names, word_key
from parser.page.ancestors import ancestors_or_self, around_any, path_to_body
from parser.page.document import Document
from parser.page.struck_prices import CAMEL_CASE, mark_of
from parser.page.texts import element_text
from parser.page.url_paths import is_home_page

AMOUNT_TAGS = frozenset(
    "p span div b strong ins del s strike bdi td dd em data h2 h3 h4 h5 h6 font big output label "
    "li small sub sup".split()
)
BUTTON_TAGS = frozenset(("button", "input", "a", "form"))
# Elements that are walked through in document order.
WALKED = ", ".join((*sorted(AMOUNT_TAGS), "a", "button", "input", "form", "h1"))
# Names of forms and buttons in common shop systems that put an offer into the basket.
BUY_NAME = re.compile(
    r"add[_-]?(?:item[_-]?)?(?:to[_-]?)?(?:the[_-]?)?(?:shopping[_-]?)?(?:cart|basket|bag|trolley)"
    r"|(?:cart|basket)[/_-]?add|buy[_-]?(?:now|block|btn|button)|button-cart"
    r"|(?:^|[ /])add[_-]item|variations_form|product-form__submit",
    re.IGNORECASE,
)
BUY_ATTRIBUTES = ("class", "id", "name", "action", "data-action", "data-button-action")
# A form whose whole class is `cart`, and a button whose whole name is `add`, in two shop systems.
CART_FORM_CLASS = "cart"
ADD_BUTTON_NAME = "add"
# Types of input elements that are buttons.
BUTTON_TYPES = frozenset(("submit", "button", "image"))
# Names of elements whose amount is no price: a class, or a part of it beside a word for price.
OTHER_AMOUNT = re.compile(
    r"(?<![a-z])(?<!with-)(?<!has-)(?<!no-)(?:savings?|you-save"
    r"|(?:unit|ship\w*|delivery|range|filter|min|minimum|minimal|installments?|bonus|postage)"
    r"(?=[-_]+(?:order|price|amount|cost)))(?![a-z])"
    r"|(?<=price-)(?:unit|range|filter|shipping)$",
    re.IGNORECASE,
)
# Names of the price without a reduction: an old price only where there is another price.
REGULAR_PRICE = re.compile(
    r"(?<![a-z])(?:regular|original|normal|base|retail)(?![a-z])", re.IGNORECASE
)
CURRENT_PRICE_KEYS = frozenset(map(word_key, CURRENT_PRICE_WORDS))
PRICE_NAME = re.compile(r"price|preis|prix|precio|prezzo|preco|prijs|cena|amount|cost|money", re.I)
# Signs between a word and an amount.
CURRENCY_SIGNS = " \t\xa0$€£¥₽₴₩:.-–"
# Characters of a currency's mark before an amount.
MAX_MARK_CHARS = 5
NUMBER = re.compile(r"\d[\d.,'’\xa0\u202f]*")
# Steps from an amount up to the element that is named a price.
MAX_STEPS_TO_NAME = 3
# Names of links to a brand's page.
BRAND_NAME = re.compile(r"brand|manufacturer|vendor|hersteller|marke|marque|marca|merk", re.I)
# Names of links, or of the elements around them, that name an offer; and of links alone.
NAME_OF_OFFER = re.compile(r"name|title", re.I)
OFFER_LINK = re.compile(r"product|item", re.I)
HEADINGS = "h1, h2, h3, h4, h5, h6"
HEADING_TAGS = frozenset(HEADINGS.split(", "))
# Relations of links to the offers before and behind.
NEIGHBOUR_RELATIONS = ("prev", "next", "previous")
# Links to files; pictures are none of them (`parser.page.cards`).
FILE_ENDING = re.compile(r"\.(?:pdf|mp4|zip)$", re.IGNORECASE)
# Parts of a page around its content.
OUTER_TAGS = frozenset(("header", "footer", "nav", "aside"))
# Characters of an element that is only an amount, and characters of it that are read.
MAX_AMOUNT_CHARS = 40
AMOUNT_CHARS_READ = 60
# Characters of a button or of a link's name.
MAX_NAME_CHARS = 200
# Characters of the shortest name of an offer.
MIN_NAME_CHARS = 2
# Steps from a link up to the heading that it stands in.
MAX_STEPS_TO_HEADING = 3
# Steps from an amount up to the card that holds it, and from the card's link.
MAX_STEPS_TO_CARD = 9
# Steps from an amount up to a link or a struck element around it.
MAX_STEPS_AROUND = 5
# Ancestors of the title that belong to the offer.
MAX_ANCESTORS_OF_TITLE = 6
# Steps from a button, and from the link, up to a card that has shown its price.
MAX_STEPS_TO_BUTTON = 5
# Targets of links in one card: the offer, its reviews, a quick view.
MAX_LINKS_IN_CARD = 3
# Elements of a page that are walked through: a bound against hostile input.
MAX_WALKED = 20_000
# Amounts and buttons of a page that are looked at closely.
MAX_AMOUNTS = 600


class OfferLinks:
    """The links of a page to other pages of offers."""

    def __init__(self, document: Document) -> None:
        self._cards = document.cards

    def target(self, link: LexborNode) -> str | None:
        """Return the URL of another page that a link leads to; None for all other links.

        The home page and files are no targets, nor is an action of the basket.
        """
        href = link.attributes.get("href") or ""
        if BUY_NAME.search(href):
            return None
        url = (self._cards.target(link) or "").partition("#")[0]
        if not url or FILE_ENDING.search(url.partition("?")[0]) or is_home_page(url):
            return None
        return url

    def leads_home(self, node: LexborNode) -> bool:
        """Return True if an element is, holds or stands in a link to the shop's home page."""
        inner = node.css_first("a[href]")
        links = [inner] if inner is not None else []
        links += ancestors_or_self(node, MAX_STEPS_AROUND)
        urls = (self._cards.resolve(link) for link in links if link.tag == "a")
        return any(url is not None and is_home_page(url) for url in urls)

    def leads_elsewhere(self, node: LexborNode) -> bool:
        """Return True if an element is, or stands in, a link to another page."""
        links = (link for link in ancestors_or_self(node, MAX_STEPS_AROUND) if link.tag == "a")
        return any(self.target(link) is not None for link in links)


class PageParts:
    """The amounts and buy buttons of a page's own offer, and those of cards.

    `title` is the text that names the page's offer. `anchors` are the elements that show it.
    """

    def __init__(self, document: Document, title: str | None) -> None:
        self._title = (title or "").casefold()
        self._links = OfferLinks(document)
        self.amounts: list[LexborNode] = []
        self.struck_amounts: list[LexborNode] = []
        self.buy_elements: list[LexborNode] = []
        self.amounts_in_cards: list[LexborNode] = []
        self.cards: set[int] = set()
        self.anchors: list[LexborNode] = []
        self._walk(document.tree.css(WALKED)[:MAX_WALKED])
        # A button may stand before the link in its card.
        self.buy_elements = [node for node in self.buy_elements if self.is_own(node)]

    @property
    def is_list(self) -> bool:
        """Whether the page shows prices in cards only, or a range of them, and has no button."""
        if self.buy_elements or not self.amounts_in_cards:
            return False
        return all(is_range(element_text(node, AMOUNT_CHARS_READ) or "") for node in self.amounts)

    def ancestors_of_title(self) -> list[LexborNode]:
        """Return the ancestors of the element that shows the title, innermost first.

        Of several such elements, the one with the nearest price counts: a title stands above the
        page's content as well. The body counts where no inner element holds a price.
        """
        nearest: list[LexborNode] = []
        fewest_steps = MAX_ANCESTORS_OF_TITLE + 2
        above_amounts = around_any(self.amounts)
        for anchor in self.anchors:
            ancestors = list(ancestors_or_self(anchor, MAX_ANCESTORS_OF_TITLE + 1))[1:]
            inner = [node for node in ancestors if node.tag != "body"]
            above = (step for step, node in enumerate(inner) if node.mem_id in above_amounts)
            steps = next(above, MAX_ANCESTORS_OF_TITLE + 1)
            if steps < fewest_steps:
                nearest = ancestors if steps > MAX_ANCESTORS_OF_TITLE else inner
                fewest_steps = steps
        return nearest

    def repeats_offers(self) -> bool:
        """Return True if several prices with a button each stand around the title, as in a list."""
        above_amounts = around_any(self.amounts)
        contents = [node for node in self.ancestors_of_title() if node.mem_id in above_amounts]
        if not contents:
            return False
        amount_ids = {node.mem_id for node in self.amounts}
        buy_ids = {node.mem_id for node in self.buy_elements}
        prices: set[str] = set()
        last_price = ""
        for node in contents[0].css(WALKED)[:MAX_WALKED]:
            if node.mem_id in amount_ids:
                last_price = element_text(node, AMOUNT_CHARS_READ) or ""
            elif node.mem_id in buy_ids and last_price:
                prices.add(last_price)
                last_price = ""
        return len(prices) > 1

    def is_unnamed_card(self) -> bool:
        """Return True if the only price and its button stand behind a link without the title."""
        if not self.amounts or not self.buy_elements:
            return False
        above_title = around_any(self.anchors)
        buy_path = path_to_body(self.buy_elements[0])
        for ancestor in ancestors_or_self(self.amounts[0], MAX_STEPS_TO_BUTTON):
            if ancestor.mem_id in above_title:
                return False
            if ancestor.mem_id in buy_path:
                return self._has_offer_link(ancestor, self.amounts[0])
        return False

    def _has_offer_link(self, card: LexborNode, amount: LexborNode) -> bool:
        """Return True for a link before the amount, or one behind it that names an offer."""
        is_behind = False
        for node in card.css(WALKED)[:MAX_AMOUNTS]:
            is_behind = is_behind or node.mem_id == amount.mem_id
            if node.tag != "a" or self._links.target(node) is None:
                continue
            if self._names_other_offer(node):
                return True
            text = (element_text(node, MAX_NAME_CHARS) or "").casefold()
            is_brand = BRAND_NAME.search(names_of(node)) or self._is_part_of_title(text)
            if not is_behind and len(text) >= MIN_NAME_CHARS and not is_brand:
                return True
        return False

    def is_own(self, node: LexborNode) -> bool:
        """Return True if an element is no part of a card."""
        return not self.cards.intersection(path_to_body(node))

    def is_price(self, node: LexborNode) -> bool:
        """Return True if an element is and holds no old price or the like, nor a card's price."""
        if is_other_amount(node):
            return False
        other_amounts = (*self.struck_amounts, *self.amounts_in_cards)
        return not any(node.mem_id in path_to_body(inner) for inner in other_amounts)

    def _walk(self, nodes: Sequence[LexborNode]) -> None:
        last_links = _LinksBefore()
        max_chars = max(AMOUNT_CHARS_READ, len(self._title) + 1)
        looked_at = 0
        for node in nodes:
            if looked_at > MAX_AMOUNTS:
                return
            tag = node.tag or ""
            if tag in BUTTON_TAGS:
                if is_buy_element(node):
                    looked_at += 1
                    self._add_buy_element(node, last_links)
                elif tag == "a" and self._names_other_offer(node):
                    last_links.add(node, self._links.target(node) or "")
                continue
            text = element_text(node, max_chars) if node.first_child is not None else None
            if not text:
                continue
            if text.casefold() == self._title and not self._links.leads_elsewhere(node):
                self.anchors.append(node)
                last_links.clear(node)
            elif is_amount(text):
                looked_at += 1
                self._add_amount(node, last_links)

    def _add_buy_element(self, node: LexborNode, last_links: "_LinksBefore") -> None:
        path = path_to_body(node)
        # A button within a form is the same way to buy.
        if self.buy_elements and self.buy_elements[-1].mem_id in path:
            return
        if not self._is_in_card(node, path, last_links) and not is_outer(node):
            self.buy_elements.append(node)

    def _add_amount(self, node: LexborNode, last_links: "_LinksBefore") -> None:
        path = path_to_body(node)
        # The innermost element counts: an outer one may hold an old price as well.
        for group in (self.amounts, self.struck_amounts, self.amounts_in_cards):
            while group and group[-1].mem_id in path:
                group.pop()
        if self._is_in_card(node, path, last_links):
            if not is_outer(node):
                self.amounts_in_cards.append(node)
        elif is_other_amount(node):
            self.struck_amounts.append(node)
        elif not is_outer(node):
            self.amounts.append(node)

    def _is_in_card(
        self, node: LexborNode, path: Sequence[int], last_links: "_LinksBefore"
    ) -> bool:
        if node.tag not in BUTTON_TAGS and self._links.leads_elsewhere(node):
            self.cards.add(node.mem_id)
            return True
        card = last_links.card_of(path, node.tag in BUTTON_TAGS)
        if card is None:
            return False
        self.cards.add(card)
        return True

    def _names_other_offer(self, link: LexborNode) -> bool:
        """Return True if a link to another page names an offer: by a picture, or as a heading."""
        if self._links.target(link) is None or link.attributes.get("rel") in NEIGHBOUR_RELATIONS:
            return False
        classes = names_of(link)
        if link.parent is not None:
            classes += f" {names_of(link.parent)}"
        if BRAND_NAME.search(classes):
            return False
        text = (element_text(link, MAX_NAME_CHARS) or "").casefold()
        picture = link.css_first("img")
        if picture is not None:
            name = (picture.attributes.get("alt") or text).strip().casefold()
            return not self._is_part_of_title(name)
        is_named = NAME_OF_OFFER.search(classes) or OFFER_LINK.search(names_of(link))
        is_heading = link.css_first(HEADINGS) is not None or any(
            node.tag in HEADING_TAGS for node in ancestors_or_self(link, MAX_STEPS_TO_HEADING)
        )
        is_text = len(text) >= MIN_NAME_CHARS and not self._is_part_of_title(text)
        return is_text and bool(is_named or is_heading)

    def _is_part_of_title(self, name: str) -> bool:
        """Return True for the name of a brand, which the title has among other words."""
        return bool(name) and name in self._title and name != self._title


class _LinksBefore:
    """The last links to other offers in document order, and the card of the last one."""

    def __init__(self) -> None:
        self._links: list[tuple[str, list[int]]] = []
        self._card: int | None = None
        self._above_title: set[int] = set()
        self._path_of_last_card: list[int] = []

    def clear(self, anchor: LexborNode) -> None:
        """Forget the links: the page's title stands behind them."""
        self._links, self._card = [], None
        self._above_title.update(path_to_body(anchor))

    def add(self, link: LexborNode, target: str) -> None:
        """Take the next link; the card of the links before ends where it has shown an amount."""
        if self._card is not None:
            self._path_of_last_card = self._links[-1][1]
            self._links, self._card = [], None
        self._links.append((target, path_to_body(link)))
        del self._links[: -MAX_LINKS_IN_CARD - 1]

    def card_of(self, path: Sequence[int], is_button: bool) -> int | None:
        """Return the id of the last link's card, if an element with this path stands in it.

        A card holds the link and the element, but neither the page's title nor many links.
        """
        if not self._links or self._card in path:
            return self._card
        max_steps = MAX_STEPS_TO_CARD
        if self._card is not None:
            # A card shows its price once; its button may stand in an element around that.
            max_steps = MAX_STEPS_TO_BUTTON if is_button else 0
        link_path = self._links[-1][1]
        shared = next((step for step in path if step in link_path), None)
        if shared is None or not self._may_be_card(shared):
            return None
        if max(path.index(shared), link_path.index(shared)) > max_steps:
            return None
        self._card = shared
        return shared

    def _may_be_card(self, element: int) -> bool:
        """Return False for elements that hold the title, the card before, or many links."""
        if element in self._above_title or element in self._path_of_last_card:
            return False
        targets = {target for target, link_path in self._links if element in link_path}
        return len(targets) <= MAX_LINKS_IN_CARD


def is_outer(node: LexborNode) -> bool:
    """Return True if an element stands in the page's header, footer, navigation or side bar."""
    return any(ancestor.tag in OUTER_TAGS for ancestor in ancestors_or_self(node))


def is_amount(text: str) -> bool:
    """Return True if a text is only an amount of money, other than 0, or a price with its label.

    >>> is_amount("12,50 €"), is_amount("Price: $12"), is_amount("0.00 EUR"), is_amount("Free over $100")
    (True, True, False, False)
    """
    if len(text) > MAX_AMOUNT_CHARS or not any(map(str.isdigit, text)):
        return False
    if not find_currency(text) or not _is_price_label(NUMBER.split(text, maxsplit=1)[0]):
        return False
    value = normalise(Attribute.PRICE, text)
    return bool(value and float(value))


@lru_cache(maxsize=1024)
def _is_price_label(prefix: str) -> bool:
    """Return True if the text before an amount is empty, a currency, or a label of the price."""
    label = prefix.strip(CURRENCY_SIGNS)
    if not label or names("price", label) or names("from", label):
        return True
    if len(label) <= MAX_MARK_CHARS and find_currency(label):
        return True
    return word_key(label) in CURRENT_PRICE_KEYS


def is_range(text: str) -> bool:
    """Return True if a text holds several amounts, or the lowest of several.

    >>> is_range("5 € – 20 €"), is_range("ab 5 €"), is_range("1.299,00 €")
    (True, True, False)
    """
    if len(NUMBER.findall(text)) > 1:
        return True
    prefix = NUMBER.split(text, maxsplit=1)[0]
    return names("from", prefix.strip(CURRENCY_SIGNS))


def is_other_amount(node: LexborNode) -> bool:
    """Return True if an amount is struck through, or named as an old price or a saving."""
    return bool(mark_of(node)[0]) or _is_named(OTHER_AMOUNT, node)


def is_regular_price(node: LexborNode) -> bool:
    """Return True if an amount is named as the price without a reduction, if there is one."""
    return _is_named(REGULAR_PRICE, node)


def is_named_price(node: LexborNode) -> bool:
    """Return True if an element or its parent is named a price."""
    return any(
        PRICE_NAME.search(names_of(ancestor))
        for ancestor in ancestors_or_self(node, MAX_STEPS_TO_NAME)
    )


def _is_named(pattern: re.Pattern[str], node: LexborNode) -> bool:
    """Return True if a class or id of an element or around it is such a word.

    Beside another word, that is one for a price: `inline-list` has nothing to do with prices.
    """
    for name in " ".join(map(names_of, ancestors_or_self(node, MAX_STEPS_AROUND))).split():
        spelled = CAMEL_CASE.sub("-", name)
        match = pattern.search(spelled)
        if match is None:
            continue
        if match.span() == (0, len(spelled)) or PRICE_NAME.search(spelled):
            return True
    return False


def is_buy_element(node: LexborNode) -> bool:
    """Return True if an element is a button or a form that puts an offer into the basket."""
    attributes = node.attributes
    if node.tag == "form":
        if CART_FORM_CLASS in (attributes.get("class") or "").split():
            return True
    elif node.tag == "input" and (attributes.get("type") or "").lower() not in BUTTON_TYPES:
        return False
    elif attributes.get("name") == ADD_BUTTON_NAME:
        return True
    if BUY_NAME.search(" ".join(attributes.get(name) or "" for name in BUY_ATTRIBUTES)):
        return True
    if node.tag == "form":
        return False
    if node.tag == "input":
        text = attributes.get("value") or attributes.get("alt") or ""
    else:
        text = element_text(node, MAX_NAME_CHARS) or attributes.get("title") or ""
    return is_buy_text(text.strip())


def names_of(node: LexborNode) -> str:
    """Return the class and the id of an element."""
    attributes = node.attributes
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
