"""The dashboard and the alert rules are well formed, and name only metrics that Scout exports."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from tests.scout.conftest import web_client

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "scout.json"
# Metrics and functions that Prometheus itself has, by their names.
OF_PROMETHEUS = frozenset({"up"})
_METRIC = re.compile(r"\b(?:scout|process|up)(?:_[a-z_]+)?\b(?=\s*[\[{)<>=*/+ -]|$)")
_LABELS = re.compile(r"\{[^{}]*\}|\b(?:by|on)\s*\([^()]*\)")


def alert_rules() -> list[dict[str, Any]]:
    """Return the rules of all groups."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> Iterator[str]:
    """Yield all expressions of the rules and of the dashboard."""
    for rule in alert_rules():
        yield rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def metrics_in(expression: str) -> set[str]:
    """Return the metrics that an expression names.

    >>> sorted(metrics_in('sum by (shop) (scout_pages{state="up"}) > 0.2 * scout_shops'))
    ['scout_pages', 'scout_shops']
    """
    return set(_METRIC.findall(_LABELS.sub(" ", expression)))


def test_rules_are_well_formed() -> None:
    """As `promtool check rules` demands: names, durations, severities, and what to do."""
    rules = alert_rules()
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 10
    for rule in rules:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"Scout[A-Za-z]+", rule["alert"])
        assert re.fullmatch(r"\d+[smhd]", rule["for"])
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "action"}


def test_the_dashboard_is_well_formed() -> None:
    """Panels have ids and places of their own, and take the data source that is chosen."""
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len({panel["id"] for panel in panels}) == len(places) == len(panels)
    for panel in panels:
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert panel["targets"]


def test_brackets_are_balanced() -> None:
    """No expression is cut short."""
    for expression in expressions():
        for opening, closing in ("()", "{}", "[]"):
            assert expression.count(opening) == expression.count(closing), expression


def test_every_metric_is_exported(settings: Settings, store: Store) -> None:
    """A metric that is renamed would leave an empty panel, or an alert that never fires."""
    text = web_client(settings, store).get("/metrics").text
    exported = {family.name for family in text_string_to_metric_families(text)}
    exported |= {f"{name}_total" for name in exported}
    named = set().union(*map(metrics_in, expressions()))
    assert len(named) > 15
    assert named - OF_PROMETHEUS <= exported
