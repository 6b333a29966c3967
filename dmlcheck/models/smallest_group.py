"""The smallest group of nodes that is wrong only together, found by running ever smaller groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Group = tuple[int, ...]  # positions of nodes, in order
Check = Callable[[Group], "bool | None"]  # whether a group is wrong, None where that is not known

_MOST_PIECES = 64  # of a group, into which its inner nodes are divided to leave out one piece after the other


class Smallest:
    """A search through the groups of some nodes, each of which is right alone.

    A group is checked once. There are at most `most` checks; after those, the smallest group so far is the result.
    Groups of fewer than `least` nodes count as right.
    """

    def __init__(self, count: int, check: Check, least: int = 2) -> None:
        """Search among the nodes 0 to `count` - 1."""
        self.count = count
        self.check = check
        self.least = least
        self.most = count * max(1, count.bit_length()) + 16
        self.known: dict[Group, bool | None] = {}

    @property
    def checks(self) -> int:
        """The number of groups that were checked."""
        return len(self.known)

    def found(self) -> Group | None:
        """Return the smallest group that is wrong, or None if none is found: no node of it can be left out.

        Of a large group this is only known of the nodes at its ends, and of pieces between them.
        """
        group = self._first()
        if group is None:
            return None
        group = self._halved(group)
        while True:
            smaller = self._without_inner(self._without_end(self._without_start(group)))
            if smaller == group:
                return group
            group = smaller

    def _is_wrong(self, group: Group) -> bool:
        return self._found_of(group) is True

    def _found_of(self, group: Group) -> bool | None:
        if len(group) < self.least:
            return False
        if group not in self.known:
            if len(self.known) >= self.most:
                return None
            self.known[group] = self.check(group)
        return self.known[group]

    def _first(self) -> Group | None:
        """Return a group to begin with: all nodes, or the first smaller group that is wrong if all cannot be judged."""
        right: list[Group] = []
        for group in self._windows():
            if any(other[0] <= group[0] and group[-1] <= other[-1] for other in right):
                continue
            found = self._found_of(group)
            if found:
                return group
            if found is False:
                right.append(group)
        return None

    def _windows(self) -> Iterator[Group]:
        """Yield all nodes, and then ever smaller groups of nodes in a row, each of which shares half with the next."""
        size = self.count
        while size >= 2:
            for start in range(0, self.count - size + size // 2, size // 2):
                yield tuple(range(start, min(start + size, self.count)))
            size = (size + 1) // 2 if size > 2 else 0

    def _halved(self, group: Group) -> Group:
        while len(group) > 1:
            middle = len(group) // 2
            half = next((half for half in (group[:middle], group[middle:]) if self._is_wrong(half)), None)
            if half is None:
                return group
            group = half
        return group

    def _without_start(self, group: Group) -> Group:
        return group[self._most_left_out(len(group), lambda number: group[number:]) :]

    def _without_end(self, group: Group) -> Group:
        return group[: len(group) - self._most_left_out(len(group), lambda number: group[: len(group) - number])]

    def _most_left_out(self, count: int, rest: Callable[[int], Group]) -> int:
        """Return the largest number of nodes at an end that can be left out so that the rest is still wrong."""
        wrong, right = 0, count
        while right - wrong > 1:
            middle = (wrong + right) // 2
            if self._is_wrong(rest(middle)):
                wrong = middle
            else:
                right = middle
        return wrong

    def _without_inner(self, group: Group) -> Group:
        """Return a group without the nodes between its ends that can be left out: all, then ever smaller pieces."""
        size = len(group) - 2
        while size > 0 and len(group) <= _MOST_PIECES * size:
            at = 1
            while at < len(group) - 1:
                rest = group[:at] + group[min(at + size, len(group) - 1) :]
                if self._is_wrong(rest):
                    group = rest
                else:
                    at += size
            size //= 2
        return group
