"""The demo shop's pages: status and content type, and the places of data in each template."""

import html
import json
import re
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from lxml import html as lxml_html

from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.assortment.offers import format_price
from scout.demo.site.demo_site import DemoSite
from scout.demo.site.page_renderer import BASE
from scout.demo.site.responses import GZIP, HTML, SVG, TEXT, XML

TRACKING = ("utm_", "gclid", "partner")
PAGES = [
    ("/", 200, HTML),
    ("/de/", 200, HTML),
    ("/en/", 200, HTML),
    ("/en", 301, TEXT),
    ("/de/kaffeemaschinen/", 200, HTML),
    ("/de/kaffeemaschinen", 301, TEXT),
    ("/de/kaffeemaschinen/?page=2", 200, HTML),
    ("/de/kaffeemaschinen/?page=99", 404, HTML),
    ("/en/collections/monitors?color=black&sort=price-desc", 200, HTML),
    ("/en/collections/monitors?page=99", 404, HTML),
    ("/en/deals", 200, HTML),
    ("/de/suche?q=tee", 200, HTML),
    ("/en/search?q=", 200, HTML),
    ("/de/ratgeber/", 200, HTML),
    ("/en/blog/first-marathon", 200, HTML),
    ("/en/blog/nothing", 404, HTML),
    ("/de/impressum", 200, HTML),
    ("/en/terms", 200, HTML),
    ("/de/artikel/nichts-1.html", 404, HTML),
    ("/en/products/nothing", 200, HTML),
    ("/en/collections/headphones/products/nothing", 200, HTML),
    ("/nothing", 404, HTML),
    ("/private/", 200, HTML),
    ("/checkout", 200, HTML),
    ("/events/2026/11/", 200, HTML),
    ("/events/2026/11/14/", 200, HTML),
    ("/events/2026/13/", 404, HTML),
    ("/out?to=https%3A%2F%2Fparcels.example%2F", 302, TEXT),
    ("/robots.txt", 200, TEXT),
    ("/sitemap.xml", 200, XML),
    ("/sitemaps/artikel.xml.gz", 200, GZIP),
    ("/favicon.svg", 200, SVG),
    ("/img/nothing-1.svg", 404, HTML),
]


def tree(site: DemoSite, target: str):
    """Parse a page."""
    return lxml_html.fromstring(site.answer(target).body)


def canonical(site: DemoSite, target: str) -> str:
    """Return the path of a page's canonical link."""
    return tree(site, target).xpath("string(//link[@rel='canonical']/@href)").removeprefix(BASE)


def visible(site: DemoSite, target: str) -> str:
    """Return a page's text, without scripts and styles."""
    page = tree(site, target)
    for node in page.xpath("//script|//style"):
        node.drop_tree()
    return " ".join(page.text_content().split())


@pytest.mark.parametrize(("target", "status", "content_type"), PAGES)
def test_responses(site, target, status, content_type):
    """Every kind of page has its status and content type."""
    response = site.answer(target)
    assert (response.status, response.content_type) == (status, content_type)


def test_every_offer_is_shown_at_all_its_paths(demo, site):
    """At each of its paths an offer's page shows its title and has the same canonical link."""
    for offer in demo.offers:
        for path in (offer.path, *offer.alternates):
            assert site.answer(path).status == 200
            assert (
                f'<link rel="canonical" href="{BASE}{html.escape(offer.path)}">'
                in site.answer(path).body
            )
            assert f">{html.escape(offer.title, quote=False)}</h1>" in site.answer(
                path
            ).body.replace("&#34;", '"')


def test_pages_are_of_real_size(demo, site):
    """Pages of offers weigh 20 to 60 KB."""
    assert all(20_000 < len(site.answer(offer.path).body) < 60_000 for offer in demo.offers)


@pytest.mark.parametrize("slug", ["kaffeemaschinen", "headphones"])
def test_text_template(demo, site, slug):
    """The first template has all values in visible text only."""
    offer = next(o for o in demo.offers if o.category.slug == slug and o.ean and o.han)
    page, text = site.answer(offer.path).body, visible(site, offer.path)
    for value in (
        f"EAN: {offer.ean}",
        f": {offer.sku}",
        f": {offer.han}",
        offer.brand,
        format_price(offer.price, offer.locale),
    ):
        assert value in text
    assert page.count(offer.ean) == 1
    assert "itemprop" not in page
    assert "og:" not in page


@pytest.mark.parametrize("slug", ["tee", "running-shoes"])
def test_microdata_template(demo, site, slug):
    """The second template has microdata and OpenGraph; related offers have microdata too."""
    offer = next(o for o in demo.offers if o.category.slug == slug and o.ean and o.han)
    page = tree(site, offer.path)
    selector = "//*[@itemprop='{}'][not(ancestor::*[@itemprop='isRelatedTo'])]/@content"
    assert page.xpath(selector.format("gtin13")) == [offer.ean]
    assert page.xpath(selector.format("sku")) == [offer.sku]
    assert page.xpath(selector.format("price")) == [str(offer.price)]
    assert page.xpath("//meta[@property='product:price:amount']/@content") == [str(offer.price)]
    assert len(page.xpath("//*[@itemprop='price']")) == 9
    assert offer.ean not in visible(site, offer.path)


@pytest.mark.parametrize("slug", ["gartengeraete", "smartphones"])
def test_script_template(demo, site, slug):
    """The third template has identifiers in scripts and an attribute, and the price in pieces."""
    offer = [o for o in demo.offers if o.category.slug == slug and o.ean and o.han][1]
    body, page, text = (
        site.answer(offer.path).body,
        tree(site, offer.path),
        visible(site, offer.path),
    )
    state = json.loads(re.search(r"__STATE__ = (\{.*\});</script>", body)[1])
    assert (state["product"]["gtin"], state["product"]["sku"]) == (offer.ean, offer.sku)
    meta = json.loads(re.search(r"var meta = (\{.*\});", body)[1])
    assert [offer.ean, int(offer.price * 100)] in [
        [v["barcode"], v["price"]] for v in meta["product"]["variants"]
    ]
    assert json.loads(page.xpath("string(//@data-product)"))["ean"] == offer.ean
    assert f"item_id: '{offer.sku}'," in body
    assert offer.ean not in text
    assert offer.sku not in text
    assert format_price(offer.price, offer.locale) not in page.xpath(
        "string(//div[@class='amount'])"
    )


def test_other_offers_stand_on_an_offers_page(demo, site):
    """Related offers, a set's parts and a joint price are on the page: traps for an extractor."""
    bundle = next(offer for offer in demo.offers if offer.parts)
    text = visible(site, bundle.path)
    parts = [offer for offer in demo.offers if offer.number in bundle.parts]
    assert len(parts) == 2
    assert all(
        part.title in text and format_price(part.price, part.locale) in text for part in parts
    )
    assert len(tree(site, demo.offers[0].path).xpath("//li[contains(@class, 'card')]")) == 8


def test_variants_of_one_offer(demo, site):
    """`?variant=` shows the variant's identifiers and price; the canonical link leaves it out."""
    offer = next(
        o for o in demo.offers if o.variants and o.ean and len({v.price for v in o.variants}) > 1
    )
    for choice in offer.variants:
        page = site.answer(f"{offer.path}?variant={choice.id}").body
        assert f'content="{choice.sku}"' in page
        assert f'itemprop="price" content="{choice.price}"' in page
        assert canonical(site, f"{offer.path}?variant={choice.id}") == offer.path


def test_variants_that_are_offers(demo, site):
    """Where each variant is an offer, each names itself as canonical."""
    members = [offer for offer in demo.offers if offer.family][:3]
    assert [canonical(site, member.path) for member in members] == [
        member.path for member in members
    ]
    assert len({site.answer(member.path).body for member in members}) == 3


def test_parameters_without_meaning_change_nothing(demo, site):
    """Tracking on a link gives the same page as without."""
    path = demo.offers[0].path
    assert site.answer(f"{path}?utm_source=x&gclid=1") is site.answer(path)


def test_filters_show_less_and_have_the_list_as_canonical(site):
    """A filtered or sorted list holds offers of the list, and has the list as canonical link."""
    path = "/de/kaffeemaschinen/"
    assert canonical(site, f"{path}?color=schwarz&sort=price&page=1") == path
    assert canonical(site, f"{path}?page=2") == f"{path}?page=2"
    shown = tree(site, f"{path}?color=schwarz").xpath("//h3/a/text()")
    assert shown
    assert all("Schwarz" in title or title.startswith("Set") for title in shown)


def test_soft_404_says_sorry_and_shows_offers(site):
    """An unknown English product is answered with 200, an apology, and other offers with prices.

    No canonical link.
    """
    text = visible(site, "/en/products/nothing")
    assert "could not find" in text
    assert "$" in text
    assert canonical(site, "/en/products/nothing") == ""


def test_gone_offers_lead_nowhere(demo, site):
    """Offers that are gone are redirected to their category, not found, or soft 404s."""
    assert sorted(site.answer(offer.path).status for offer in demo.gone) == [
        200,
        200,
        301,
        301,
        404,
        404,
    ]


def test_sold_out_offers_say_so(demo, site):
    """Offers out of stock keep their page and price, and say that they are sold out."""
    sold_out = [offer for offer in demo.offers if not offer.available]
    assert len(sold_out) > 15
    labels = {"de": "Zurzeit ausverkauft", "en": "Currently sold out"}
    assert all(
        'class="stock out">' + labels[offer.locale] in site.answer(offer.path).body
        for offer in sold_out
    )


def test_calendar_never_ends(site):
    """Every month links to another one not visited before."""
    target, seen = "/events/2026/11/", set()
    for _ in range(40):
        seen.add(target)
        target = tree(site, target).xpath("//main//p/a/@href")[1]
        assert site.answer(target).status == 200
        assert target not in seen


def test_no_canonical_link_carries_tracking(site):
    """Canonical links carry no tracking parameters."""
    for target in site.targets():
        answer = site.answer(target)
        canonical = re.search(r'rel="canonical" href="([^"]+)"', answer.body)
        assert not canonical or not any(
            key.startswith(TRACKING) for key, _ in parse_qsl(urlsplit(canonical[1]).query)
        )


def test_pages_carry_tracked_links_and_a_redirector(site):
    """Pages have traps: internal links with utm parameters, and an allowed redirector."""
    page = site.answer("/en/").body
    assert "utm_source=banner" in page
    assert 'href="/out?to=' in page
    assert "/out" not in site.answer("/robots.txt").body


def test_pictures_answer(demo, site):
    """Both pictures of an offer are SVG and differ."""
    first, second = (site.answer(demo.offers[0].image.replace("-1.", f"-{n}.")) for n in (1, 2))
    assert first.content_type == second.content_type == SVG
    assert first.body != second.body
    lxml_html.fromstring(first.body)


def links(site: DemoSite, target: str) -> set[str]:
    """Return a page's links in the shop, without tracking, filters, traps and disallowed paths."""
    answer = site.answer(target)
    hrefs = (
        [answer.headers["Location"]]
        if "Location" in answer.headers
        else re.findall(r'href="([^"#]+)', answer.body)
    )
    hrefs += re.findall(r"<loc>([^<]+)</loc>", answer.body)
    targets = {urljoin(target, html.unescape(link).removeprefix(BASE)) for link in hrefs}
    excluded = ("/private/", "/checkout", "/out", "/events/", "http")
    return {
        link.split("?utm")[0]
        for link in targets
        if not link.startswith(excluded) and not re.search("color=|sort=", link)
    }


def reached(site: DemoSite, *starts: str) -> set[str]:
    """Return all paths that links lead to from the starts."""
    seen, todo = set(starts), list(starts)
    while todo:
        fresh = links(site, todo.pop()) - seen
        seen |= fresh
        todo += fresh
    return seen


def test_every_offer_can_be_reached(demo, site):
    """Links and the sitemap together lead to every offer, and neither does alone."""
    names = {offer.path for offer in demo.offers}
    by_links = {offer.path for url in reached(site, "/") if (offer := demo.offer_at(url))}
    by_map = {path for name in links(site, "/sitemap.xml") for path in links(site, name)} & names
    assert by_links | by_map == names
    assert len(names - by_links) == 4
    assert 40 < len(names - by_map) < 90
    assert by_map - names == set()


def test_redesign_changes_markup_and_nothing_else(demo, site):
    """A redesigned shop has the same offers and prices, without the old markup."""
    after = DemoShop.make(redesigned=True)
    assert after.offers == demo.offers
    assert after.missing() == demo.missing()
    redesigned = DemoSite(after)
    places = {"text": 'class="preis"', "microdata": 'itemprop="price"', "script": "var meta"}
    for offer in demo.offers[::11]:
        old, new = site.answer(offer.path).body, redesigned.answer(offer.path).body
        assert places[offer.category.template] in old
        assert places[offer.category.template] not in new
        assert html.escape(offer.title).replace("&quot;", "&#34;") in new
        assert offer.sku in new
