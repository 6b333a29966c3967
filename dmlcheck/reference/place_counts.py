"""How many places a window has along a dimension, and how large the output of a transposed window is."""

from __future__ import annotations


def place_count(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return the number of places of a window along a dimension of a size, with padding at the start and at the end."""
    return (size + padding + end - (taps - 1) * dilation - 1) // stride + 1


def transposed_size(size: int, taps: int, stride: int, dilation: int, padding: int, end: int) -> int:
    """Return the size of the output of a transposed convolution along a dimension, without output padding."""
    return (size - 1) * stride + (taps - 1) * dilation + 1 - padding - end


def may_be_place_count(count: int, size: int, *window: int) -> bool:
    """Whether `count` may be the number of places, be it rounded down or up; all of them begin before the end padding.

    `window` has the other arguments of `place_count`.
    """
    taps, stride, dilation, padding, end = window
    down = place_count(size, *window)
    is_cut = (size + padding + end - (taps - 1) * dilation - 1) % stride > 0 and down * stride < size + padding
    return down > 0 and (count == down or (is_cut and count == down + 1))
