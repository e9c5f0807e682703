"""A mirrored shop served on loopback: `python -m benchmarks.served_site FOLDER [--etags] [...]`.

FOLDER has `www.tar.xz` and `truth.json`, whose `host` is replaced by the server's own in all pages.
With `--etags` an unchanged page is answered with 304. `--shops N` serves N generated shops instead,
each of `--pages` pages and on a port of its own. Prints the root URLs as a JSON list. The server is
a process of its own, so that its processor time is not counted.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

CONTENT_TYPES = {"xml": "application/xml", "txt": "text/plain; charset=utf-8"}
HTML = "text/html; charset=utf-8"
NOT_FOUND = b"<html><title>404</title><h1>Not found</h1></html>"
OFFER = """<html><head><title>{title}</title><script type="application/ld+json">{data}</script></head>
<body><nav>{links}</nav><h1>{title}</h1><p class="sku">{sku}</p><p class="price">{price} EUR</p>
<p>{text}</p><button>Add to cart</button></body></html>"""
WORDS = (
    "amber birch cedar delta ember fjord grove harbor indigo juniper kelp linen maple nordic opal"
)
# Links of each page of a generated shop, and the sentences of its text.
LINKS_PER_PAGE = 12
SENTENCES = 40


class Site(ThreadingHTTPServer):
    """The pages of one shop, by path and query."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, has_etags: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.has_etags = has_etags
        self.pages: dict[str, bytes] = {}

    @property
    def root(self) -> str:
        """URL of the root, without the last slash."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def find(self, path: str, query: str) -> tuple[str, bytes] | None:
        """Return the name and the content of a page; None where there is none."""
        names = [f"{path}?{query}"] if query else []
        path += "index.html" if path.endswith("/") else ""
        for name in (*names, path, f"{path}.html", f"{path}/index.html"):
            if name in self.pages:
                return name, self.pages[name]
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        found = self.server.find(unquote(target.path), unquote(target.query))
        status, body, content_type = 404, NOT_FOUND, HTML
        if found:
            status, body = 200, found[1]
            content_type = CONTENT_TYPES.get(found[0].rpartition(".")[2], HTML)
        etag = f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"'
        if found and self.server.has_etags and self.headers.get("If-None-Match") == etag:
            status, body = 304, b""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        if found and self.server.has_etags:
            self.send_header("ETag", etag)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def read_site(folder: Path, site: Site) -> None:
    """Load a mirror into a site."""
    host = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["host"]
    escaped = site.root.replace("/", "\\/")
    with tarfile.open(folder / "www.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            body = file.read().replace(f"https://{host}".encode(), site.root.encode())
            site.pages[f"/{member.name}"] = body.replace(
                f"https:\\/\\/{host}".encode(), escaped.encode()
            )


def generated_offer(number: int, page: int) -> dict[str, str]:
    """Return title, sku and price of an offer of a generated shop."""
    words = WORDS.split()
    title = f"{words[page % len(words)]} {words[(page * 3 + 1) % len(words)]} lamp {page}"
    return {
        "title": title.title(),
        "sku": f"S{number}-{page:04d}",
        "price": f"{page % 90 + 5}.90",
    }


def generate_shop(number: int, pages: int, site: Site) -> None:
    """Fill a site with offers; each page links to twelve others, the start page to all."""
    words = WORDS.split()
    paths = [f"/p/{page}" for page in range(pages)]
    for page, path in enumerate(paths):
        links = []
        for step in range(1, min(LINKS_PER_PAGE, pages - 1) + 1):
            target = paths[(page * 7 + step) % pages]
            links.append(f'<a href="{target}">{words[step % len(words)]}</a>')
        offer = generated_offer(number, page)
        data: dict[str, object] = {"@type": "Product", "name": offer["title"], "sku": offer["sku"]}
        data["offers"] = {"@type": "Offer", "price": offer["price"], "priceCurrency": "EUR"}
        sentences = [
            " ".join(words[(page + offset + n) % len(words)] for n in range(9))
            for offset in range(SENTENCES)
        ]
        site.pages[path] = OFFER.format(
            **offer,
            data=json.dumps(data),
            links=" ".join(links),
            text=". ".join(sentences),
        ).encode()
    site.pages["/index.html"] = (
        "<html><title>Shop</title><h1>Lamps</h1>"
        + " ".join(f'<a href="{path}">lamp</a>' for path in paths)
        + "</html>"
    ).encode()


@contextmanager
def served(*arguments: str) -> Iterator[list[str]]:
    """Serve shops in a process of their own for the block; gives their root URLs."""
    command = [sys.executable, "-m", "benchmarks.served_site", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def catalog_lines(folder: Path, root: str) -> str:
    """Return the catalog of a mirrored shop, whose links lead to the served one."""
    text = (folder / "catalog.jsonl").read_text(encoding="utf-8")
    encoded = quote("{base}", safe="")
    placeholders: Mapping[str, str] = {
        "{base}": root,
        encoded: quote(root, safe=""),
        quote(encoded, safe=""): quote(quote(root, safe=""), safe=""),
    }
    for placeholder, value in placeholders.items():
        text = text.replace(placeholder, value)
    return text


def main() -> None:
    """Serve until the process is ended."""
    argument_parser = argparse.ArgumentParser(description=__doc__)
    argument_parser.add_argument("folder", type=Path, nargs="?")
    argument_parser.add_argument("--etags", action="store_true")
    argument_parser.add_argument("--shops", type=int, default=0)
    argument_parser.add_argument("--pages", type=int, default=12)
    arguments = argument_parser.parse_args()
    sites = [Site(arguments.etags) for _ in range(arguments.shops or 1)]
    for number, site in enumerate(sites):
        if arguments.folder:
            read_site(arguments.folder, site)
        else:
            generate_shop(number, arguments.pages, site)
    threads = [threading.Thread(target=site.serve_forever) for site in sites]
    for thread in threads:
        thread.start()
    print(json.dumps([site.root for site in sites]), flush=True)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
