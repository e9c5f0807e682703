"""Near-identical pages: a generator of pages that say the same under ever new names, and lead only to more of them.

Their addresses tell nothing, so their print does: the title. When many pages in a row have shown the
title of the page that linked to them first, the others that such pages link to wait until everything else is done; when
the next ones show it too, the rest is refused. One that looks like an offer clears the title for ever, another title
starts the count anew.
"""

from collections import Counter

WAIT = 60
REFUSE = 100
MOST = 200_000
REASON = "trap: pages alike"


class Alike:
    """Counts, per title, the pages in a row that show the title of the page that leads to them.

    >>> pages = Alike()
    >>> for number in range(WAIT + 1):
    ...     pages.led(number, "Our story")
    >>> for number in range(WAIT):
    ...     pages.saw(number, "Our story", offer=False)
    >>> pages.can_wait(WAIT), pages.is_trap(WAIT)
    (True, False)
    """

    def __init__(self) -> None:
        self._led: dict[int, str] = {}
        self._in_a_row: Counter[str] = Counter()
        self._offers_behind: set[str] = set()

    def led(self, link: int, title: str) -> None:
        """A page of that title is the first to link there."""
        if len(self._led) < MOST:
            self._led.setdefault(link, title)

    def saw(self, page: int, title: str, *, offer: bool) -> None:
        """A page was fetched; `offer` says that it looks like one."""
        by = self._led.pop(page, None)
        if by is None:
            return
        if offer and len(self._offers_behind) < MOST:
            self._offers_behind.add(by)
        self._in_a_row[by] = self._in_a_row[by] + 1 if title == by and not offer else 0

    def can_wait(self, link: int) -> bool:
        """Whether the pages that lead there have led to nothing but their like for long."""
        return self._idle(link) >= WAIT

    def is_trap(self, link: int) -> bool:
        """Whether they have for so long that the rest is not asked for."""
        return self._idle(link) >= REFUSE

    def _idle(self, link: int) -> int:
        by = self._led.get(link)
        return 0 if by is None or by in self._offers_behind else self._in_a_row[by]
