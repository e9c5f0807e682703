"""The API answers as its OpenAPI description says, whatever is sent: no 5xx, no other shape."""

from collections.abc import Iterator

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, strategies
from schemathesis import checks

from catalog.models import (
    KnownOffer,
    Match,
    Review,
    ReviewDecision,
    Role,
    Run,
    RunState,
    Shop,
    Stage,
    Verdict,
    utc_now,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.pipeline.run_pool import RunResult
from scout.web.access.accounts import add_account
from scout.web.access.api_tokens import add_token
from scout.web.app import create_app

EXAMPLES = 12
"""Requests of each operation."""

CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
)
_SCHEMA = create_app(Settings(), None, ["127.0.0.1"]).openapi()  # type: ignore[arg-type]
OPERATIONS = sorted(
    (method, path) for path, methods in _SCHEMA["paths"].items() for method in methods
)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[schemathesis.BaseSchema, str]]:
    """The described application on a store with one finished run, and an admin's token."""
    settings = Settings.load(data_dir=tmp_path_factory.mktemp("schema"))
    store = Store.open(settings)
    _fill(store)
    add_account(store, "tests", Role.ADMIN, None)
    token = add_token(store, "tests", "tests")
    app = create_app(settings, store, ["testserver"])
    headers = {"authorization": f"Bearer {token}"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scout.pipeline.run_pool.RunPool.run", lambda *_: RunResult(1, "not run"))
        yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=headers), token


def _fill(store: Store) -> None:
    with store.write() as session:
        session.add(Shop(id=1, name="demo", url="https://demo.example/"))
        session.flush()
        session.add(
            Run(id=1, shop_id=1, state=RunState.DONE, stage=Stage.REPORT, finished_at=utc_now())
        )
        session.flush()
        for number, verdict in enumerate(Verdict):
            url = f"https://demo.example/{number}"
            offer = {"title": f"Lamp {number}", "price": "5", "currency": "EUR"}
            session.add(Match(run_id=1, shop_id=1, url=url, urls=[], verdict=verdict, offer=offer))
        session.add(KnownOffer(shop_id=1, ref="1", title="Lamp"))
        session.add(Review(shop_id=1, url="https://demo.example/0", decision=ReviewDecision.REJECT))


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_operation(api: tuple[schemathesis.BaseSchema, str], method: str, path: str) -> None:
    """Requests of every form get an answer that the description has."""
    schema, token = api
    operation = schema[path][method]
    is_removal = (method, path) == ("delete", "/api/v1/shops/{shop}")

    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(), knows=strategies.booleans())
    def check(case: schemathesis.Case, knows: bool) -> None:
        # Half of the requests are of a shop and run that there are.
        if knows and not is_removal:
            for name, value in (("shop", "demo"), ("run_id", 1), ("kind", "html")):
                if name in case.path_parameters:
                    case.path_parameters[name] = value
        headers = {**(case.headers or {}), "authorization": f"Bearer {token}"}
        response = case.call(headers=headers)
        case.validate_response(response, checks=list(CHECKS))

    check()
