"""Gauges that are made from counts at each scrape."""

from collections.abc import Mapping, Sequence

from prometheus_client.core import GaugeMetricFamily

Samples = dict[tuple[str, ...], float]
"""Values by the values of their labels."""


def make_gauge(
    name: str, description: str, labels: Sequence[str], samples: Mapping[tuple[str, ...], float]
) -> GaugeMetricFamily:
    """Return a gauge with its samples."""
    gauge = GaugeMetricFamily(name, description, labels=list(labels))
    for values, number in samples.items():
        gauge.add_metric(list(values), float(number))
    return gauge
