"""How much windows see at several places: blocks that are not larger than one, and the terms of what is reduced."""

from __future__ import annotations

import pytest

from dmlcheck.reference.functions.windows import Window
from dmlcheck.reference.tiling import windows as of_windows
from dmlcheck.reference.tiling.windows import places_at_once, terms_of

BLOCK = 1000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks have 1,000 elements, and parts of tensors 2,000."""
    monkeypatch.setattr(of_windows, "BLOCK", BLOCK)
    monkeypatch.setattr(of_windows, "LARGE", 2 * BLOCK)


def line(size: int, stride: int = 1, dilation: int = 1, padding: int = 0) -> Window:
    return Window((size,), (stride,), (dilation,), (padding,))


def test_places_that_see_elements_of_their_own_fill_a_block() -> None:
    assert places_at_once((500,), line(10), (509,)) == 100
    assert places_at_once((500,), line(10), (509,), is_whole=True) == 100
    assert places_at_once((2, 3), line(5000), (9000,)) == 1


def test_what_is_beyond_the_edges_takes_nothing_unless_the_window_is_whole() -> None:
    far = line(10, dilation=300)
    assert places_at_once((5000,), far, (450,)) == 500
    assert places_at_once((5000,), far, (450,), is_whole=True) == 100


def test_places_of_long_runs_share_what_is_reduced() -> None:
    """900 places that see 100 elements each are 999 elements; each is a run, which is one term."""
    assert places_at_once((900,), line(100), (999,), is_reduced=True) == 1280
    assert places_at_once((900,), line(20), (919,), is_reduced=True) == 50


def test_terms_are_counted_by_blocks() -> None:
    assert terms_of((500,), line(10), (509,)) == 5 * (100 * 10 + BLOCK)
    assert terms_of((900,), line(100), (999,), is_reduced=True) == 16 * 999 + 1280 + BLOCK
