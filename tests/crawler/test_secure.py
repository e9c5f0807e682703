"""Shops behind TLS: trust in certificates, and errors without a secure connection."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from catalog.errors import UnreachableShop
from tests.crawler.conftest import Bench, bench
from tests.crawler.server import page, serve


def expired(folder: Path) -> ssl.SSLContext:
    """A server's context with a certificate that nobody vouches for, of another name, expired since yesterday."""
    key, today = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "shop.example")])
    built = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    )
    built = (
        built.serial_number(1)
        .not_valid_before(today - timedelta(9))
        .not_valid_after(today - timedelta(1))
    )
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file = folder / "server.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *plain)
        + built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_certificates(tmp_path: Path) -> None:
    """A shop with a bad certificate is read like any other: nothing secret travels, and its offers count."""
    with serve(expired(tmp_path)) as server:
        server.routes["/"] = page("/a")
        server.routes["/a"] = page()
        made = bench(tmp_path, server)
        assert made.crawl().pages == {"fetched": 2}


def test_certificates_verified(tmp_path: Path) -> None:
    """Where certificates are to be verified, a bad one is no secure connection."""
    with serve(expired(tmp_path)) as server:
        made = bench(tmp_path, server, verify_certificates=True)
        with pytest.raises(UnreachableShop, match="no secure connection"):
            made.crawl()
    assert not server.hits


def test_no_secure_connection(make_bench: Callable[..., Bench]) -> None:
    """A server that speaks no TLS where it should is not reached, and gets no plain request."""
    made = make_bench()
    secure = made.server.url.replace("http:", "https:")
    with made.store.write() as session:
        made.shop.url = secure
        session.add(made.shop)
    with pytest.raises(UnreachableShop, match="no secure connection"):
        made.crawl()
    assert not made.server.hits
