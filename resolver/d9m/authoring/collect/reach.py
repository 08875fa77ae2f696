"""A graph, and what leads where in it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable


class Graph:
    """Nodes, each with those that follow it."""

    def __init__(self) -> None:
        self._before: dict[Hashable, set[Hashable]] = {}

    def add(self, node: Hashable, following: Iterable[Hashable]) -> None:
        for each in following:
            self._before.setdefault(each, set()).add(node)

    def leading_to(
        self, goals: Iterable[Hashable], around: Collection[Hashable] = ()
    ) -> dict[Hashable, tuple[Hashable, ...]]:
        """Every node from which a goal is reached on a way around some nodes -> the nodes that
        follow it on a shortest way.
        """
        found: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(goals, ())
        last = sorted(found, key=repr)
        while last:
            next_: list[Hashable] = []
            for node in last:
                for before in sorted(self._before.get(node, ()), key=repr):
                    if before not in found and before not in around:
                        found[before] = (node, *found[node])
                        next_.append(before)
            last = next_
        return found
