"""Framework states: the state of a page in a framework's own serialisation.

States that are JSON or a plain assignment (`__NEXT_DATA__`, `window.__INITIAL_STATE__`) need no
conversion. Nuxt 3's payload (`nuxt`) and Apollo's cache (`apollo`) are JSON, and are resolved after
decoding.
"""

from collections.abc import Sequence

from parser.scripts.states import flight, nuxt, turbo

STARTS = (nuxt.CALL, flight.PUSH, *turbo.PUSHES)


def to_assignments(scripts: Sequence[str]) -> list[str]:
    """Convert scripts that begin with one of `STARTS` to assignments of plain data."""
    code = [nuxt.resolve_call(text) for text in scripts if text.startswith(nuxt.CALL)]
    code += flight.to_assignments(text for text in scripts if text.startswith(flight.PUSH))
    code += turbo.to_assignments(text for text in scripts if text.startswith(turbo.PUSHES))
    return code
