"""How messages say things."""

from __future__ import annotations

import pytest

from dmlcheck.diagnostics.wording import dimension_counts_text, dimensions_text


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        ((4,), "4"),
        ((4, 5), "4 or 5"),
        ((1, 2, 3, 4, 5, 6, 7, 8), "1 to 8"),
        ((3, 4, 5), "3 to 5"),
        ((2, 4, 8), "2 or 4 or 8"),
    ],
)
def test_dimension_counts_are_written_as_people_write_them(dims: tuple[int, ...], text: str) -> None:
    assert dimension_counts_text(dims) == text


def test_dimensions_are_counted_in_words() -> None:
    assert [dimensions_text(count) for count in (0, 1, 2)] == ["0 dimensions", "1 dimension", "2 dimensions"]
