"""How many places a window has along a dimension."""

from __future__ import annotations


def place_count(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return the number of places of a window along a dimension of a size, with padding at the start and at the end."""
    return _room(size, taps, dilation, padding, end) // stride + 1


def may_be_place_count(count: int, size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> bool:
    """Whether `count` may be the number of places, be it rounded down or up; all begin before the end padding."""
    steps, rest = divmod(_room(size, taps, dilation, padding, end), stride)
    has_one_more = rest > 0 and (steps + 1) * stride < size + padding
    return steps >= 0 and (count == steps + 1 or (has_one_more and count == steps + 2))


def _room(size: int, taps: int, dilation: int, padding: int, end: int) -> int:
    """Return how far the last place of a window may be from its first one."""
    return size + padding + end - (taps - 1) * dilation - 1
