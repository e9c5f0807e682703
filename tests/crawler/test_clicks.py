"""A run over a server's log: no request carries tracking and none goes to a redirector.

The log is judged by lists of its own, so that the cleaner is not its own judge.
"""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from catalog.feeds.importing import import_offers
from catalog.links.shop_links import make_cleaner
from tests.crawler.conftest import Bench
from tests.crawler.server import page, raw

TRACKS = (
    "utm_source utm_medium utm_campaign gclid gbraid wbraid dclid fbclid msclkid yclid ttclid twclid igshid mc_cid "
    "mc_eid _hsenc mkt_tok vero_id wickedid srsltid irclickid awc zanpid cjevent sscid ranMID epik pk_campaign "
    "mtm_source hsa_acc at_medium wt_mc cm_mmc xtor s_kwcid ef_id spm tduid _ga _gl clickref phpsessid partner "
    "affiliate_id"
).split()
REDIRECTS = (
    "/out?to=%2Fp%2F2",
    "/redirect/12345",
    "/goto?url=https%3A%2F%2Felsewhere.example%2F",
    "/clickout/9",
)
TRACKED = re.compile(rf"[?&](?:{'|'.join(map(re.escape, TRACKS))})=|[?&](?:utm|hsa|mtm)_", re.I)
LEADS_AWAY = re.compile(r"^/(?:out|redirect|goto|clickout|r|track)\b", re.I)


def test_no_request_is_a_click(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Links of all sources are requested without tracking and without redirectors."""
    made = make_bench()
    root = made.server.url.rstrip("/")
    tagged = [f"/p/{n}?{key}=x&amp;size={n}" for n, key in enumerate(TRACKS)]
    wrapped = (
        f"https://www.awin1.com/cread.php?awinmid=1&ued={quote(f'{root}/p/100?gclid=1', safe='')}"
    )
    head = (
        '<link rel="canonical" href="/?utm_source=self"><link rel="next" href="/list?p=2&amp;utm_medium=x">'
        '<link rel="alternate" hreflang="de" href="/de?fbclid=1">'
        '<meta http-equiv="refresh" content="9;url=/fresh?msclkid=1">'
    )
    made.server.routes |= {
        "/": page(*tagged, *REDIRECTS, wrapped, "/moved", head=head),
        "/moved": raw(b"", status=301, Location="/there?gclid=1&size=3"),
        "/robots.txt": raw(b"Sitemap: {root}/map.xml?utm_source=robots\n", "text/plain"),
        "/map.xml": raw(
            b"<urlset><url><loc>{root}/mapped?utm_source=map</loc></url></urlset>", "text/xml"
        ),
    }
    made.server.fallback = page("/", title="A page")
    feed = tmp_path / "feed.csv"
    links = [
        f"{root}/known?size=1&wt_mc=x",
        wrapped.replace("100", "101"),
        f"{root}/redirect/777",
        "https://bit.ly/x",
    ]
    feed.write_text(
        "\n".join(["id,title,link", *(f"{n},Mug,{link}" for n, link in enumerate(links))])
    )
    import_offers(
        made.store, made.shop, str(feed), cleaner=make_cleaner(made.settings, made.store, made.shop)
    )
    made.crawl()
    log = [path for path in made.server.hits if not path.startswith("/scout-")]
    assert [path for path in log if TRACKED.search(path)] == []
    assert [path for path in log if LEADS_AWAY.match(path)] == []
    expected = {
        "/known?size=1",
        "/p/100",
        "/p/101",
        "/there?size=3",
        "/mapped",
        "/fresh",
        "/de",
        "/list?p=2",
    }
    assert expected | {f"/p/{n}?size={n}" for n in range(len(TRACKS))} <= set(log)
