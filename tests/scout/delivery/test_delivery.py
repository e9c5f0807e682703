"""Digests by mail and webhook: content, signature, guard, retries, and what is stored of a failure."""

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr

from catalog.errors import ConfigError, ScoutError, UsageError
from catalog.models import Delivery, DeliveryKind, Role, Run, RunState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.deliveries import get_delivery, list_deliveries
from catalog.storage.store import Store
from scout.delivery import deliveries
from scout.delivery.deliveries import add_delivery, check_addresses, check_webhook
from scout.delivery.dispatch import send_delivery
from scout.schedule.timetable import Timetable
from scout.web.app import create_app
from tests.scout.conftest import Scout
from tests.scout.web.browser import signed_in

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def failed_shop(store: Store, shop: Shop) -> Shop:
    """Return a shop whose last run failed, with a hostile reason."""
    with store.write() as session:
        session.add(Run(shop_id=shop.id or 0, state=RunState.FAILED, reason=EVIL))
    return shop


class Receiver(BaseHTTPRequestHandler):
    """A webhook that fails as often as it was told to, and keeps what it gets."""

    requests: ClassVar[list[tuple[dict[str, str], bytes]]] = []
    failures = 0

    def do_POST(self) -> None:
        """Keep the request, and answer."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.requests.append((dict(self.headers.items()), body))
        status = 500 if len(self.requests) <= self.failures else 204
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """Print nothing."""


@pytest.fixture
def receiver() -> Iterator[str]:
    """Serve a webhook on loopback; returns its URL."""
    Receiver.requests, Receiver.failures = [], 0
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_signed_webhook(
    settings: Settings, store: Store, failed_shop: Shop, receiver: str
) -> None:
    """The receiver gets the notices as JSON, signed by the secret of the delivery."""
    settings = settings.model_copy(
        update={"private_webhooks": True, "public_url": "https://scout.example"}
    )
    delivery = add_delivery(store, "ops", DeliveryKind.WEBHOOK, receiver, "@daily")
    send_delivery(settings, store, delivery)
    ((headers, body),) = Receiver.requests
    moment, _, signature = headers["X-Scout-Signature"].partition(",v1=")
    moment = moment.removeprefix("t=")
    signed = hmac.new(
        (delivery.secret or "").encode(), f"{moment}.".encode() + body, hashlib.sha256
    )
    assert signature == signed.hexdigest()
    content = json.loads(body)
    assert content["notices"][0]["kind"] == "failed"
    assert content["notices"][0]["link"] == "https://scout.example/shops/demo/runs"
    assert content["shops"][0]["shop"] == "demo"
    assert get_delivery(store, "ops").last_sent_at is not None


def test_a_webhook_that_fails_at_first(
    settings: Settings, store: Store, failed_shop: Shop, receiver: str
) -> None:
    """A failing receiver is asked again, with the same id of the delivery."""
    Receiver.failures = 2
    settings = settings.model_copy(update={"private_webhooks": True})
    delivery = add_delivery(store, "ops", DeliveryKind.WEBHOOK, receiver, "@daily")
    send_delivery(settings, store, delivery)
    assert len(Receiver.requests) == 3
    assert len({headers["X-Scout-Delivery"] for headers, _ in Receiver.requests}) == 1


def test_private_addresses_are_refused(
    settings: Settings, store: Store, failed_shop: Shop, receiver: str
) -> None:
    """Without the setting no webhook of the private network is reached; the reason is stored."""
    delivery = add_delivery(store, "ops", DeliveryKind.WEBHOOK, receiver, "@daily")
    with pytest.raises(ScoutError, match="cannot be reached"):
        send_delivery(settings, store, delivery)
    assert Receiver.requests == []
    stored = get_delivery(store, "ops")
    assert stored.last_sent_at is None
    assert "cannot be reached" in (stored.last_error or "")


def test_a_mail(settings: Settings, store: Store, failed_shop: Shop) -> None:
    """A mail has the notices as text and as escaped HTML, in the language of the delivery."""
    controller_module = pytest.importorskip(
        "aiosmtpd.controller", reason="aiosmtpd is not installed"
    )
    received: list[bytes] = []

    class Handler:
        async def handle_DATA(  # noqa: N802 - the name that aiosmtpd calls
            self, _server: Any, _session: Any, envelope: Any
        ) -> str:
            received.append(envelope.content)
            return "250 OK"

    # The controller connects to its own port to see that it is up, so that it has to know it.
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = controller_module.Controller(Handler(), hostname="127.0.0.1", port=port)
    controller.start()
    try:
        settings = settings.model_copy(
            update={
                "smtp_host": "127.0.0.1",
                "smtp_port": port,
                "smtp_security": "none",
                "mail_from": "scout@team.example",
            }
        )
        delivery = add_delivery(
            store, "team", DeliveryKind.MAIL, "a@team.example", "@daily", language="de"
        )
        send_delivery(settings, store, delivery)
    finally:
        controller.stop()
    message: Any = message_from_bytes(received[0], policy=default)
    assert message["To"] == "a@team.example"
    plain = message.get_body(("plain",)).get_content()
    html = message.get_body(("html",)).get_content()
    assert f"Der letzte Lauf schlug fehl: {EVIL}" in plain
    assert EVIL not in html
    assert "&lt;script&gt;" in html


def test_mails_need_a_server(settings: Settings, store: Store, failed_shop: Shop) -> None:
    """Without a mail server the missing setting is named; an unreachable one names no password."""
    delivery = add_delivery(store, "team", DeliveryKind.MAIL, "a@team.example", "@daily")
    with pytest.raises(ConfigError, match="SCOUT_SMTP_HOST"):
        send_delivery(settings, store, delivery)
    settings = settings.model_copy(
        update={
            "smtp_host": "127.0.0.1",
            "smtp_port": 9,
            "mail_from": "s@team.example",
            "smtp_password": SecretStr("hidden"),
        }
    )
    with pytest.raises(ScoutError) as caught:
        send_delivery(settings, store, delivery)
    assert "hidden" not in str(caught.value)


WRONG_TARGETS = [
    (check_addresses, ""),
    (check_addresses, "a@b\nBcc: c@d"),
    (check_addresses, "nobody"),
    (check_webhook, "javascript:alert(1)"),
    (check_webhook, "http://"),
    (check_webhook, "http://[::1"),
    (check_webhook, "https://a.example/ b"),
]


@pytest.mark.parametrize(
    ("check", "target"), WRONG_TARGETS, ids=[str(case[1]) for case in WRONG_TARGETS]
)
def test_wrong_targets(check: Any, target: str) -> None:
    """Addresses that could reach somebody else, or are none, are refused."""
    with pytest.raises(UsageError):
        check(target)


def test_a_store_has_a_bounded_number_of_deliveries(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One delivery too many is refused in one line, and the others stay."""
    monkeypatch.setattr(deliveries, "MAX_DELIVERIES", 2)
    for name in "ab":
        add_delivery(store, name, DeliveryKind.MAIL, "a@b.example", "@daily")
    with pytest.raises(ScoutError, match="2 deliveries already"):
        add_delivery(store, "c", DeliveryKind.MAIL, "a@b.example", "@daily")
    assert [delivery.name for delivery in list_deliveries(store)] == ["a", "b"]


def test_commands(scout: Scout, store: Store, shop: Shop) -> None:
    """Deliveries are added, listed and removed; the secret of a webhook is printed once."""
    added = scout("deliver", "add", "ops", "--webhook", "https://a.example/", "--cron", "@daily")
    assert added.code == 0
    assert "shown once" in added.err
    assert scout("deliver", "add", "ops", "--mail", "a@b.example", "--cron", "@daily").code == 1
    assert scout("deliver", "add", "x", "--cron", "@daily").code == 2
    row = json.loads(scout("deliver", "list", "--json").out)
    assert (row["name"], row["shops"]) == ("ops", "all")
    assert scout("deliver", "remove", "ops").code == 0
    assert "no delivery" in scout("deliver", "send", "ops").error


def test_the_page(settings: Settings, store: Store, shop: Shop) -> None:
    """An editor adds, pauses and removes deliveries; a reviewer does not see them."""
    app = create_app(settings, store, ["127.0.0.1"])
    editor = signed_in(app, Role.EDITOR)
    fields = {"name": "team", "kind": "mail", "target": "a@b.example", "cron": "0 7 * * 1"}
    assert editor.submit("/deliveries", **fields, shops="demo").status_code == 303
    assert list_deliveries(store)[0].shops == ["demo"]
    assert "At 07:00" in editor.get("/deliveries").text
    assert editor.submit("/deliveries", **{**fields, "kind": "fax"}).status_code == 400
    assert editor.submit("/deliveries", **{**fields, "name": "b"}, shops="x").status_code == 404
    editor.submit("/deliveries/pause", name="team")
    assert list_deliveries(store)[0].is_paused
    editor.submit("/deliveries/continue", name="team")
    editor.submit("/deliveries/remove", name="team")
    assert list_deliveries(store) == []
    assert signed_in(app, Role.REVIEWER).get("/deliveries").status_code == 403


def test_the_timetable_sends(settings: Settings, store: Store) -> None:
    """Deliveries are planned while they are not paused, and a failure does not end the clock."""
    add_delivery(store, "team", DeliveryKind.MAIL, "a@b.example", "@daily")
    sent: list[str] = []

    def send(delivery: Delivery) -> None:
        sent.append(delivery.name)
        raise ScoutError("no server")

    timetable = Timetable(settings, store, [], send)
    try:
        timetable.refresh()
        assert timetable._planned_deliveries == {"team": "@daily"}
        timetable.deliver("team", send)
        assert sent == ["team"]
    finally:
        timetable._leadership.close()
