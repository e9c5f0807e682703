"""Redirect wrappers: what each network's links come out as, and which links are left alone."""

import base64
from urllib.parse import quote

import pytest

from url_cleaner.cleaner import clean_url

TARGET = "https://www.shop.com/p/7?size=4&color=red"
ONCE = quote(TARGET, safe="")
TWICE = quote(ONCE, safe="")
B64 = base64.urlsafe_b64encode(TARGET.encode()).decode().rstrip("=")
JSON64 = base64.b64encode(
    b'{"s":"x","p":"{\\"u\\":1,\\"url\\":\\"' + TARGET.replace("/", "\\\\\\/").encode() + b'\\"}"}'
)

FORMATS = {
    "awin, encoded": f"https://www.awin1.com/cread.php?awinmid=1&awinaffid=2&clickref=x&ued={ONCE}",
    "awin, older": f"https://www.awin1.com/awclick.php?mid=1&id=2&p={ONCE}&clickref=x",
    "awin, zanox brackets": f"https://www.awin1.com/cread.php?awinmid=1&p=%5B%5B{ONCE}%5D%5D",
    "awin, not encoded": f"https://awin1.com/cread.php?ued={TARGET}&clickref=x&awinmid=1",
    "zenaps": f"https://www.zenaps.com/rclick.php?mid=1&ir=abc&pref1=x&p={ONCE}",
    "affilinet": f"http://partners.webmasterplan.com/click.asp?ref=1&site=2&type=text&tnb=3&diurl={ONCE}",
    "zanox": f"https://ad.zanox.com/ppc/?12C34T&ULP=[[{TARGET}]]&zpar0=x",
    "zanox, without scheme": f"https://ad.zanox.com/ppc/?12C34T&ulp=%5B%5B{ONCE.removeprefix('https%3A%2F%2F')}%5D%5D",
    "cj": f"https://www.kqzyfj.com/click-1-2?sid=x&url={ONCE}",
    "cj, in the path": f"https://www.tkqlhce.com/links/1/type/dlg/sid/x/{TARGET}",
    "cj, a slash lost": f"https://www.dpbolvw.net/links/1/type/dlg/{TARGET.replace('://', ':/')}",
    "tradedoubler": f"https://clkde.tradedoubler.com/click?p=1&a=2&g=3&url={ONCE}",
    "tradedoubler, brackets": f"http://pdt.tradedoubler.com/click?a(1)p(2)product(3)ttid(5)url({ONCE})",
    "tradedoubler, deep link": f"https://clk.tradedoubler.com/click?p=1&a=2&_td_deeplink={ONCE}",
    "partnerize": f"https://prf.hn/click/camref:1/pubref:x/destination:{ONCE}",
    "rakuten": f"https://click.linksynergy.com/deeplink?id=1&mid=2&murl={ONCE}",
    "rakuten, twice encoded": f"https://click.linksynergy.com/fs-bin/click?id=1&offerid=2&RD_PARM1={TWICE}",
    "webgains": f"https://track.webgains.com/click.html?wgcampaignid=1&wgprogramid=2&wgtarget={ONCE}",
    "effiliation": f"http://track.effiliation.com/servlet/effi.redir?id_compteur=1&url={ONCE}",
    "adcell": f"https://t.adcell.com/p/click?promoId=1&slotId=2&param0={ONCE}",
    "belboon": f"https://www1.belboon.de/adtracking/0a1.html/&deeplink={ONCE}",
    "tradetracker": f"https://tc.tradetracker.net/?c=1&m=2&a=3&r=x&u={ONCE}",
    "zanox, without www": "http://ad.zanox.com/ppc/?1T&ULP=[[www.shop.com/p/7?size=4&color=red]]".replace(
        "http:", "https:"
    ),
    "shareasale": f"https://www.shareasale.com/r.cfm?b=1&u=2&m=3&urllink={ONCE.removeprefix('https%3A%2F%2F')}&afftrack=",
    "skimlinks": f"https://go.skimresources.com/?id=1&xs=1&url={ONCE}&sref=https%3A%2F%2Fblog.com",
    "viglink": f"https://redirect.viglink.com/?key=1&u={ONCE}",
    "impact": f"https://merchant.pxf.io/c/1/2/3?u={ONCE}&subId1=x",
    "idealo partner": f"https://www.idealo-partner.com/click?trg={ONCE}",
    "ebay": f"https://rover.ebay.com/rover/1/1-2-3-0/1?campid=1&mpre={ONCE}",
    "admitad": f"https://ad.admitad.com/g/abc/?subid=x&ulp={ONCE}",
    "campaign manager": f"https://ad.doubleclick.net/ddm/clk/1;2;k?{TARGET}",
    "adform": f"https://track.adform.net/C/?bn=1;cpdir={TARGET}",
    "everest": f"https://pixel.everesttech.net/1/cq?ev_sid=3&url=!{ONCE}",
    "kenshoo": f"https://12.xg4ken.com/media/redir.php?prof=1&url[]={ONCE}",
    "google": f"https://www.google.co.uk/url?sa=t&url={ONCE}&usg=x",
    "bing": f"https://www.bing.com/ck/a?p=1&u=a1{B64}&ntb=1",
    "yahoo": f"https://r.search.yahoo.com/_ylt=A/RV=2/RU={ONCE}/RK=2/RS=x-",
    "facebook": f"https://l.facebook.com/l.php?u={ONCE}&h=AT",
    "disqus": f"https://disq.us/url?url={ONCE}%3AaBc12&cuid=1",
    "safe links": f"https://eur01.safelinks.protection.outlook.com/?url={ONCE}&data=x&reserved=0",
    "proofpoint 2": "https://urldefense.proofpoint.com/v2/url?u=https-3A__www.shop.com_p_7-3Fsize-3D4-26color-3Dred&d=D",
    "proofpoint 3": f"https://urldefense.com/v3/__{TARGET}__;!!AbC!xyz$",
    "cisco": f"https://secure-web.cisco.com/1a-b/{ONCE}",
    "mandrill": f"https://mandrillapp.com/track/click/1/www.shop.com?p={JSON64.decode().rstrip('=')}",
    "ses": f"https://a.r.eu-west-1.awstrack.me/L0/{ONCE.replace('https%3A', 'https:')}/1/0102-a/x=1",
    "postmark": f"https://click.pstmrk.it/3s/{ONCE.removeprefix('https%3A%2F%2F')}/abc/def",
    "nested": f"https://www.google.com/url?q={quote(f'https://www.awin1.com/cread.php?ued={ONCE}', safe='')}&sa=D",
}


@pytest.mark.parametrize("link", FORMATS.values(), ids=FORMATS.keys())
def test_target_is_read(link: str) -> None:
    """Every known format yields its target with all parameters, whether or not the shop is
    known.
    """
    for home in (None, "https://shop.com/"):
        cleaned = clean_url(link, home=home)
        assert cleaned.url == TARGET
        assert cleaned.unwrapped
        assert not cleaned.opaque


ALONE = {
    "suffix, not the network": f"https://awin1.com.example.org/cread.php?ued={ONCE}",
    "prefix, not the network": f"https://notawin1.com/cread.php?ued={ONCE}",
    "unknown wrapper": f"https://elsewhere.com/click?url={ONCE}",
    "another page of the host": f"https://www.google.com/search?q={ONCE}",
    "another path of the network": f"https://clk.tradedoubler.com/redirect?url={ONCE}",
    "target no link": "https://www.bing.com/ck/a?u=a1bm90LWEtdXJs",
    "click reference": f"https://www.awin1.com/cread.php?awinmid=1&clickref={ONCE}",
    "target in the house": "https://www.awin1.com/cread.php?ued=http%3A%2F%2Flocalhost%2Fadmin",
    "target an address": "https://www.awin1.com/cread.php?ued=http%3A%2F%2F169.254.169.254%2Fx",
    "target no http": "https://www.awin1.com/cread.php?ued=javascript%3Aalert(1)%2F%2Fwww.shop.com",
    "no target": "https://www.tkqlhce.com/click-12345-67890",
    "too deep": "https://www.awin1.com/cread.php?ued="
    + quote(TARGET, safe="").replace("%", "%" + "25" * 6),
}


@pytest.mark.parametrize("link", ALONE.values(), ids=ALONE.keys())
def test_left_alone(link: str) -> None:
    """A link without a target that anybody could mean stays as it is, byte for byte."""
    assert clean_url(link).url == link


@pytest.mark.parametrize(
    "link", ["https://bit.ly/2Kqyrz2", "https://tidd.ly/abc", "https://hop.clickbank.net/?x=1"]
)
def test_ids_are_opaque(link: str) -> None:
    """A host that knows nothing but ids makes a link opaque; for a known shop it yields nothing,
    else it stays.
    """
    for home, url in ((None, link), ("https://shop.com/", None)):
        cleaned = clean_url(link, home=home)
        assert cleaned.opaque
        assert cleaned.url == url


def test_click_without_target_is_opaque() -> None:
    """A network's click that names no target is flagged; for a known shop it yields nothing."""
    link = "https://www.awin1.com/cread.php?awinmid=1&awinaffid=2"
    assert clean_url(link).opaque
    assert clean_url(link).url == link
    assert clean_url(link, home="https://shop.com").url is None


def test_endless_nesting_is_given_up() -> None:
    """A wrapper around more wrappers than five is opaque rather than half undone."""
    link = TARGET
    for _ in range(6):
        link = f"https://www.google.com/url?q={quote(link, safe='')}"
    assert clean_url(link).opaque
    assert clean_url(link).url is None
