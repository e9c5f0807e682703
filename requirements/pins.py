"""Prints `name==version` for everything that the ranges of the given files need, as installed beside this Python.

Called by `make pins` in a fresh environment. `pip freeze` would do, but it drops the markers: a package that is needed
on some Pythons only (backports.zstd below 3.14) would then be asked for on all of them.

usage: pins.py RANGES.txt... > PINS.txt
"""

import re
import sys
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

PYTHON = re.compile(r"python_(full_)?version")


def pins(wanted: list[Requirement]) -> dict[str, str]:
    """A pin per package needed, with the marker under which it is, where only some Pythons need it.

    Breadth first: a package is looked at again where another one needs it on more Pythons, or needs more of its extras.
    """
    markers: dict[str, set[str]] = {}
    seen: set[tuple[str, str, frozenset[str]]] = set()
    queue = [(requirement, "") for requirement in wanted]
    while queue:
        requirement, inherited = queue.pop(0)
        name, marker = _name(requirement.name), inherited or _python_marker(requirement)
        if (name, marker, frozenset(requirement.extras)) in seen:
            continue
        seen.add((name, marker, frozenset(requirement.extras)))
        markers.setdefault(name, set()).add(marker)
        queue += [(needed, marker) for needed in _needs(name, requirement.extras)]
    return {name: _pin(name, markers[name]) for name in sorted(markers)}


def _needs(name: str, extras: set[str]) -> list[Requirement]:
    found = [Requirement(text) for text in distribution(name).requires or []]
    return [
        needed
        for needed in found
        if needed.marker is None
        or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def _python_marker(requirement: Requirement) -> str:
    clauses = re.split(r"\band\b", str(requirement.marker or ""))
    return " and ".join(
        clause.strip(" ()") for clause in clauses if PYTHON.search(clause) and " or " not in clause
    )


def _pin(name: str, markers: set[str]) -> str:
    pin = f"{name}=={distribution(name).version}"
    if "" in markers:
        return pin
    return f"{pin}; {' or '.join(sorted(markers))}"


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def main(files: list[str]) -> None:
    """Print the pins of all files together."""
    lines = [line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    wanted = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    print(
        "# Made by `make pins` from the ranges in "
        + " and ".join(Path(file).name for file in files)
        + "."
    )
    print("\n".join(pins(wanted).values()))


if __name__ == "__main__":
    main(sys.argv[1:])
