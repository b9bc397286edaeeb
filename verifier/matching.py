"""Maximum bipartite matching, so that the order of calls never loses a match that is possible."""

from __future__ import annotations

from collections.abc import Sequence


def match(candidates: Sequence[Sequence[int]]) -> list[int | None]:
    """For each left item the right item it is matched with, or None.

    As many left items as possible are matched. Of the matchings that do so the same one is always taken: left items
    come first in their order, and each tries its candidates in theirs (augmenting paths, Kuhn 1955).

    Args:
        candidates: for each left item the right items it could be matched with, in the order of preference.
    """
    taken_by: dict[int, int] = {}

    def augment(left: int, seen: set[int]) -> bool:
        for right in candidates[left]:
            if right in seen:
                continue
            seen.add(right)
            if right not in taken_by or augment(taken_by[right], seen):
                taken_by[right] = left
                return True
        return False

    for left in range(len(candidates)):
        augment(left, set())
    of_left: list[int | None] = [None] * len(candidates)
    for right, left in taken_by.items():
        of_left[left] = right
    return of_left
