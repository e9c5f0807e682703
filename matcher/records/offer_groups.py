"""Offer groups: disjoint sets of pages that show one offer (union-find with constraints)."""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from matcher.records.record import Record


class OfferGroups:
    """Disjoint sets that never join two listed offers, or two variants of one page.

    `listed` gives for each record its links that the catalog lists, `labels` the language and
    market of its page.
    """

    def __init__(
        self, listed: Sequence[set[str]], shop: Sequence[Record], labels: Sequence[Hashable] = ()
    ) -> None:
        self._parent = list(range(len(listed)))
        self._listed = [set(links) for links in listed]
        self._labels: list[set[Hashable]] = [{label} for label in labels or [""] * len(listed)]
        # Per set: {page with several variants: the address of its variant in this set}.
        self._variants: list[dict[str, str]] = []
        for record in shop:
            page = record.variant_page
            self._variants.append({page: record.link.address} if page else {})

    def join_all(self, members: Sequence[int]) -> None:
        """Join the first member with each other one, where that is allowed."""
        for index in members[1:]:
            self.join(members[0], index)

    def join(self, first: int, second: int) -> None:
        """Join two sets unless the catalog or a page keeps them apart."""
        first, second = self.root(first), self.root(second)
        if first == second:
            return
        if len(self._listed[first] | self._listed[second]) > 1 or self._are_variants(first, second):
            return
        low, high = min(first, second), max(first, second)
        self._parent[high] = low
        self._listed[low] |= self._listed[high]
        self._labels[low] |= self._labels[high]
        self._variants[low] |= self._variants[high]

    def root(self, index: int) -> int:
        """Return the index that stands for the set of a record: its smallest one."""
        while self._parent[index] != index:
            # Path halving keeps later look-ups short.
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def share_label(self, first: int, second: int) -> bool:
        """Return True if two sets have pages of one language and market."""
        return bool(self._labels[self.root(first)] & self._labels[self.root(second)])

    def members(self) -> list[list[int]]:
        """Return the indices of each set, in the order of the smallest index."""
        by_root: dict[int, list[int]] = defaultdict(list)
        for index in range(len(self._parent)):
            by_root[self.root(index)].append(index)
        return list(by_root.values())

    def _are_variants(self, first: int, second: int) -> bool:
        variants = self._variants[second]
        for page, address in self._variants[first].items():
            if variants.get(page, address) != address:
                return True
        return False
