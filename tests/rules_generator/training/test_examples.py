"""Known offers are joined with their pages: by link, or without any click by what the pages show."""

from dataclasses import replace
from decimal import Decimal

from catalog.models import OfferFields
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from parser.crawled_pages import CrawledPage, PageOpener
from rules_generator.training.examples import Example, join_offers
from tests.pages import category_page, products, text_page
from tests.rules_generator.conftest import known

ALL = products(12)


def crawl(settings: Settings, **pages: str) -> tuple[list[CrawledPage], PageOpener]:
    """Pages as if they had been crawled, by the last part of their URL."""
    bodies = BodyStore(settings.bodies)
    made = [
        CrawledPage(n, f"https://shop.example/{name}", None, bodies.put(page.encode()))
        for n, (name, page) in enumerate(pages.items())
    ]
    return made, PageOpener(settings.bodies)


def shop(settings: Settings) -> tuple[list[CrawledPage], PageOpener]:
    """All product pages and two category pages."""
    pages = {f"p{product.number}": text_page(product) for product in ALL}
    return crawl(settings, **pages, all=category_page(ALL), some=category_page(ALL[:1]))


def pairs(examples: list[Example]) -> dict[str, str]:
    """The titles of the examples by the end of their page's URL."""
    return {
        example.page.url.rsplit("/", 1)[1]: next(iter(example.known.values()))[0]
        for example in examples
    }


def test_a_cleaned_link_leads_to_its_page(settings: Settings) -> None:
    """Also where the page's canonical address is the link."""
    pages, opener = shop(settings)
    pages.append(
        CrawledPage(99, "https://shop.example/c/p1", "https://shop.example/p1", pages[1].body)
    )
    offers = [known(product, url=f"https://shop.example/p{product.number}") for product in ALL]
    assert pairs(join_offers(offers, pages, opener, enough=1)) == {
        f"p{product.number}": product.title for product in ALL
    }


def test_without_offers_to_search_for_no_page_is_opened(settings: Settings) -> None:
    """Where all offers have links, a page that is damaged is not even noticed."""
    pages, opener = shop(settings)
    pages.append(CrawledPage(99, "https://shop.example/lost", None, "0" * 40))
    offers = [known(product, url=f"https://shop.example/p{product.number}") for product in ALL]
    assert len(join_offers(offers, pages, opener, enough=60)) == len(ALL)
    assert opener.refused == {}
    offers.append(known(ALL[0], url=None))
    join_offers(offers, pages, opener, enough=60)
    assert list(opener.refused) == ["https://shop.example/lost"]


def test_pages_that_name_one_address_are_examples_each(settings: Settings) -> None:
    """A template that names the shelf on every page of its lamps hides none of them from the learner."""
    pages, opener = shop(settings)
    shelved = [replace(page, canonical="https://shop.example/shelf") for page in pages]
    offers = [known(product, url=f"https://shop.example/p{product.number}") for product in ALL]
    assert pairs(join_offers(offers, shelved, opener, enough=1)) == {
        f"p{product.number}": product.title for product in ALL
    }


def test_a_link_that_redirects_leads_to_its_page_too(settings: Settings) -> None:
    """Another scheme, a www. or a known redirect is no other page."""
    pages, opener = shop(settings)
    moved = [
        known(ALL[1], url="http://www.shop.example/p1/"),
        known(ALL[2], url="https://shop.example/old"),
    ]
    joined = join_offers(
        moved, pages, opener, 1, {"https://shop.example/old": "https://shop.example/p2"}
    )
    assert pairs(joined) == {"p1": ALL[1].title, "p2": ALL[2].title}


def test_an_opaque_offer_is_found_by_title_and_something_else(settings: Settings) -> None:
    """Its own page, not the list that shows it too."""
    pages, opener = shop(settings)
    offers = [known(product, url=None, price=Decimal("1.11"), brand=None) for product in ALL]
    assert pairs(join_offers(offers, pages, opener, enough=50)) == {
        f"p{product.number}": product.title for product in ALL
    }


def test_a_title_alone_that_is_only_alike_is_not_enough(settings: Settings) -> None:
    """No page is claimed by an offer that shares neither its identifiers nor its exact title."""
    pages, opener = shop(settings)
    strangers = [
        OfferFields(title=f"{product.title} XL set", price=Decimal("9.99"), sku="ZZ-1")
        for product in ALL
    ]
    assert join_offers(strangers, pages, opener, enough=50) == []


def test_two_pages_that_show_the_same_are_not_guessed_between(settings: Settings) -> None:
    """Where two pages fit equally well, none is taken."""
    page = text_page(ALL[0])
    pages, opener = crawl(settings, a=page, b=page)
    assert join_offers([known(ALL[0], url=None)], pages, opener, enough=50) == []
