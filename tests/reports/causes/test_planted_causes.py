"""Planted causes: the first cases of the benchmark, which measures 400 of each kind."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "causes.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The benchmark as a module."""
    spec = importlib.util.spec_from_file_location("benchmark_of_causes", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_planted_causes_are_named_first(benchmark: ModuleType) -> None:
    """Of the benchmark's first 32 cases, one or two planted causes each, at least 31 are right."""
    cases = [benchmark.make_case(number) for number in range(32)]
    assert sum(benchmark.is_right(case, benchmark.infer(case)) for case in cases) >= 31


def test_no_cause_is_named_at_random(benchmark: ModuleType) -> None:
    """Of the benchmark's first 12 cases with offers missing at random none gets a cause."""
    cases = [benchmark.make_random_case(number) for number in range(12)]
    assert not any(benchmark.infer(case).ranked for case in cases)
