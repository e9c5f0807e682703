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
    "ses, own domain": f"https://track.mail.shop.com/CL0/{ONCE.replace('https%3A', 'https:')}/1/0102-a/x=1",
    "ses, second version": f"https://click.blog.org/CL0/{ONCE.replace('https%3A', 'https:')}/2/0100-a/x=1",
    "separators encoded": f"https://partners.webmasterplan.com/click.asp?ref=1&diurl={TARGET.replace('&', '%26')}",
    "ses, no appendix": f"https://news.blog.org/CL0/{ONCE.replace('https%3A', 'https:')}",
    "sailthru": f"https://link.blog.org/click/12345678.9012/{B64}/5a1b2c3dB0",
    "activecampaign": f"https://blog.activehosted.com/Prod/link-tracker?redirectUrl={B64}&sig=1",
    "mailjet, own domain": f"https://news.blog.org/lnk/AAA/1/xyz/{B64}",
    "hubspot sales": f"http://t.sidekickopen61.com/e1t/c/5/f1/?t={ONCE}&si=5&pi=a",
    "gmx": f"https://deref-gmx.net/mail/client/abc/dereferrer/?redirectUrl={ONCE}",
    "web.de": f"https://deref-web-02.de/mail/client/abc/dereferrer/?redirectUrl={ONCE}",
    "azure": f"https://nam.safelink.emails.azure.net/redirect/?destination={ONCE}&p=bT1h",
    "trustwave": f"https://scanmail.trustwave.com/?c=1&d=a&s=5&u={ONCE}",
    "avanan, older": f"https://avanan.url-protection.com/v1/url?o={ONCE}&g=a&h=b",
    "bitdefender": f"https://lsems.gravityzone.bitdefender.com/scan/{B64}/ABC?c=1",
    "bing news": f"http://www.bing.com/news/apiclick.aspx?ref=FexRss&aid=&url={ONCE}&c=1",
    "google news": f"https://news.google.com/news/url?sa=t&url={ONCE}",
    "instagram": f"https://www.instagram.com/linkshim/?u={ONCE}&e=AT",
    "yelp": f"https://www.yelp.com/biz_redir?url={ONCE}&cachebuster=1&s=a",
    "pixiv": f"https://www.pixiv.net/jump.php?{ONCE}",
    "impact, the brand's domain": f"https://goto.brand.com/c/12345/67890/4321?u={ONCE}&subId1=x",
    "admitad, another domain": f"https://abcdef.com/g/0a1b2c/?subid=x&ulp={ONCE}",
    "kwanko, another domain": f"https://img.abcdef.com/trk.php?mclic=P1&redir={ONCE}",
    "adtraction, the brand's domain": f"https://in.brand.com/t/t?a=1&as=2&t=2&tk=1&url={ONCE}",
    "daisycon, another domain": f"https://abc12.net/c/?si=1&li=2&wi=3&ws=x&dl={ONCE}",
    "tune, another domain": f"https://go.agency.com/aff_c?offer_id=1&aff_id=2&url={ONCE}",
    "post affiliate pro": f"https://aff.agency.com/scripts/click.php?a_aid=1&a_bid=2&desturl={ONCE}",
    "revive": f"https://ads.blog.org/www/delivery/ck.php?oaparams=2__bannerid=1__cb=a__oadest={ONCE}",
    "eulerian": f"https://ea.shop.com/dynclick/shop-com/?eaf-publisher=n&eurl={ONCE}",
    "at internet": f"http://logc7.xiti.com/gopc.url?xts=12345&xtor=AL-3-[x]&xtloc={TARGET}",
    "at internet, redirect page": f"https://www.shop.com/redirect.html?xts=1&xtor=AD-1&xtloc={ONCE}",
    "affilinet, france": f"http://clic.reussissonsensemble.fr/click.asp?ref=1&site=2&diurl={ONCE}",
    "adcell, in the path": f"https://www.adcell.de/promotion/click/promoId/1/slotId/2/param0/{ONCE}",
    "a8, rakuten": "https://rpx.a8.net/svt/ejp?a8mat=A&rakuten=y&a8ejpredirect="
    + quote(f"https://hb.afl.rakuten.co.jp/hgc/abc/?pc={ONCE}&m={ONCE}", safe=""),
    "bol": f"https://partner.bol.com/click/click?p=2&t=url&s=1&f=TXL&url={ONCE}&name=x",
    "marin": f"https://tracker.marinsm.com/rd?cid=1&mid=2&lp={ONCE}",
    "yandex": f"https://yandex.ru/clck/jsredir?from=yandex.ru&etext=*{TARGET}",
    "everest, mark": f"https://pixel.everesttech.net/1/cq?ev_sid=3!{TARGET}",
    "a known network's other key": f"https://clk.tradedoubler.com/click?p=1&a=2&redirect={ONCE}",
    "a known network's path": f"https://track.effiliation.com/r/12/{TARGET}",
    "nested": f"https://www.google.com/url?q={quote(f'https://www.awin1.com/cread.php?ued={ONCE}', safe='')}&sa=D",
}


# Landing pages that redirect in turn, at the end of a known wrapper.
CHAINS = {
    "script with an ending": f"https://ad.shop.com/affiliate/entry.jsp?partner=3&url={ONCE}",
    "script, given a path": "https://www.shop.com/entry.jsp?n=3&url=%2Fp%2F7%3Fsize%3D4%26color%3Dred",
    "script, not encoded": f"https://www.shop.com/go.jsp?url={TARGET}",
    "unknown tracker": f"https://clicks.agency.com/t?id=4&redirect={ONCE}",
    "redirector by name": f"https://www.shop.com/redirect?to={ONCE}",
    "redirector without host": "https://www.shop.com/redirect?to=%2Fp%2F7%3Fsize%3D4%26color%3Dred",
    "at internet": f"http://logc7.xiti.com/gopc.url?xts=12345&xtor=AL-3-[x]&xtloc={TARGET}",
    "at internet, both keys": f"http://logc7.xiti.com/go.url?xts=1&xtloc={ONCE}&url={ONCE}",
    "eulerian": f"https://ea.shop.com/dynclick/shop-com/?eaf-publisher=n&eurl={ONCE}",
    "eulerian, other path": f"https://ea.shop.com/c/?eaf-publisher=n&eurl={ONCE}",
    "tradetracker": f"https://www.shop.com/tt/?tt=1_2_3_x&r={ONCE}",
    "two scripts": "https://a.agency.com/r.php?url="
    + quote(f"https://www.shop.com/x.asp?link={ONCE}", safe=""),
}
OUTER = {
    "awin": "https://www.awin1.com/cread.php?awinmid=1&ued={}",
    "tradedoubler": "https://clk.tradedoubler.com/click?p=1&a=2&url={}",
    "zanox": "https://ad.zanox.com/ppc/?12C34T&ULP=%5B%5B{}%5D%5D",
    "partnerize": "https://prf.hn/click/camref:1/destination:{}",
    "effiliation": "https://track.effiliation.com/servlet/effi.redir?id_compteur=1&url={}",
}


@pytest.mark.parametrize("outer", OUTER.values(), ids=OUTER.keys())
@pytest.mark.parametrize("landing", CHAINS.values(), ids=CHAINS.keys())
def test_landing_pages_that_redirect(landing: str, outer: str) -> None:
    """A wrapper around a shop's own redirect script, or around another wrapper, yields the page."""
    cleaned = clean_url(outer.format(quote(landing, safe="")))
    assert cleaned.url == TARGET
    assert len(cleaned.unwrapped) > 1


LANDING_PAGES = {
    "share button": f"https://www.shop.com/sharer?u={ONCE}",
    "login": f"https://www.shop.com/login?url={ONCE}",
    "picture": "https://www.shop.com/p/7?url=https%3A%2F%2Fwww.shop.com%2Fp%2F7.jpg",
    "referrer": f"https://www.shop.com/p/7?ref={ONCE}",
    "return address": f"https://www.shop.com/p/7?returnurl={ONCE}",
    "path": "https://www.shop.com/p/7?url=%2Fp%2F8",
    "file": "https://www.shop.com/p/7?link=index.html",
    "no http": "https://www.shop.com/go?url=ftp%3A%2F%2Fwww.shop.com%2Fp",
    "private host": "https://www.shop.com/go?url=http%3A%2F%2F10.0.0.1%2Fp",
    "variant": "https://www.shop.com/p/7?target=men&link=4&go=red",
}


@pytest.mark.parametrize("page", LANDING_PAGES.values(), ids=LANDING_PAGES.keys())
def test_landing_pages(page: str) -> None:
    """A landing page that is no redirect stays as it is."""
    link = f"https://www.awin1.com/cread.php?awinmid=1&ued={quote(page, safe='')}"
    assert clean_url(link).url == page


BARE = {
    "https://ad.zanox.com/ppc/?12C34T&ULP=[[shop.com/p/7?size=4]]": "https://shop.com/p/7?size=4",
    "http://ad.zanox.com/ppc/?1T&zpar0=[[a]]&ULP=[[shop.com/p/7]]&zpar1=x": "http://shop.com/p/7",
    "https://www.awin1.com/awclick.php?mid=1&id=2&p=%5B%5Bshop.com%2Fp%3Fa%3D1%5D%5D": "https://shop.com/p?a=1",
    "https://www.awin1.com/cread.php?awinmid=1&ued=shop.co.uk%252Fp%253Fa%253D1": "https://shop.co.uk/p?a=1",
    "https://merchant.pxf.io/c/1/2/3?u=shop.com/": "https://shop.com/",
    "https://merchant.pxf.io/c/1/2/3?u=shop.com": "https://shop.com",
    "http://tc.tradetracker.net/?c=1&m=2&a=3&u=shop.com:8080%2Fp": "http://shop.com:8080/p",
    "http://www.clixgalore.com/PSale.aspx?BID=1&AfID=2&LP=www.shop.com/p/7": "http://www.shop.com/p/7",
    "awin1.com/cread.php?awinmid=1&ued=https%3A%2F%2Fshop.com%2Fp": "https://shop.com/p",
    "clk.tradedoubler.com/click?p=1&url=shop.com%2Fp": "https://shop.com/p",
    "l.facebook.com/l.php?u=http%3A%2F%2Fshop.com%2Fp&h=AT": "http://shop.com/p",
}


@pytest.mark.parametrize(("link", "target"), BARE.items())
def test_missing_schemes(link: str, target: str) -> None:
    """A target or a wrapper without scheme is read; a target takes the scheme of its wrapper."""
    assert clean_url(link).url == target


NOT_ENCODED = {
    "https://www.awin1.com/cread.php?awinmid=1&p=https://a.shop.com/land.jsp?url=https://shop.com/p?id=7&b=3": "https://shop.com/p?id=7&b=3",
    "https://www.awin1.com/cread.php?awinmid=1&ued=https://shop.com/p?brand=A%26B": "https://shop.com/p?brand=A%26B",
    "https://www.awin1.com/cread.php?awinmid=1&ued=https://shop.com/p?id=7&size=4&clickref=x": "https://shop.com/p?id=7&size=4",
    "https://www.awin1.com/awclick.php?mid=1&id=2&p=https://shop.com/p?size=4&id=7&clickref=x": "https://shop.com/p?size=4&id=7",
    "https://clk.tradedoubler.com/click?p=1&a=2&url=https://shop.com/p?p=7&a=8&epi=x": "https://shop.com/p?p=7&a=8",
}


@pytest.mark.parametrize(("link", "target"), NOT_ENCODED.items())
def test_ambiguous_keys_are_the_targets(link: str, target: str) -> None:
    """A key that the network has used before is the target's where it comes again: no variant is
    lost.
    """
    assert clean_url(link).url == target


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
    "software, another path": f"https://elsewhere.com/page/dynclick?eurl={ONCE}",
    "software, a parameter missing": f"https://elsewhere.com/c?si=1&dl={ONCE}",
    "software, short ids": f"https://elsewhere.com/c/1/2/3?u={ONCE}",
    "software, target no link": "https://elsewhere.com/CL0/shoes/7",
    "bare target, a file": "https://merchant.pxf.io/c/1/2/3?u=index.html",
    "bare target, a path": "https://lt45.net/c/?si=1&li=2&wi=3&dl=p%2F7",
    "bare target, a number": "https://merchant.pxf.io/c/1/2/3?u=10.0.0.1/p",
    "bare target, an e-mail address": "https://merchant.pxf.io/c/1/2/3?u=a%40shop.com",
    "bare target, no domain": "https://merchant.pxf.io/c/1/2/3?u=shop.invalid/",
    "archive": f"https://web.archive.org/web/2020/{TARGET}",
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
