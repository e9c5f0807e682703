"""The state that a framework hands its pages, written out: most write it in a way of their own, not as plain data.

What they leave as JSON or as a plain assignment (`__NEXT_DATA__`, `window.__INITIAL_STATE__`) needs nothing of this.
Nuxt 3's list (`nuxt`) and Apollo's cache (`apollo`) are JSON, and are written out once they are decoded.
"""

from collections.abc import Sequence

from parser.scripts.states import flight, nuxt, turbo

STARTS = (nuxt.CALL, flight.PUSH, *turbo.PUSHES)


def written_out(scripts: Sequence[str]) -> list[str]:
    """The code of the scripts that begin with one of `STARTS`, with the states in it as plain assignments."""
    calls = [text for text in scripts if text.startswith(nuxt.CALL)]
    return [
        *map(nuxt.without_call, calls),
        *flight.written_out(text for text in scripts if text.startswith(flight.PUSH)),
        *turbo.written_out(text for text in scripts if text.startswith(turbo.PUSHES)),
    ]
