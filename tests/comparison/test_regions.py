"""Where wrong elements are, in words."""

from __future__ import annotations

import numpy as np
import pytest

from dmlcheck.comparison.regions import region_text


def marked(sizes: tuple[int, ...], *cuts: object) -> np.ndarray:
    mask = np.zeros(sizes, dtype=bool)
    for cut in cuts:
        mask[cut] = True
    return mask


def flat(sizes: tuple[int, ...], cut: slice) -> np.ndarray:
    mask = np.zeros(sizes, dtype=bool)
    mask.reshape(-1)[cut] = True
    return mask


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (marked((512, 512), np.s_[256:, 448:]), "rows 256 to 511, columns 448 to 511"),
        (marked((5, 3, 4, 4), np.s_[1:]), "all but batch 0"),
        (marked((2, 3, 4, 4), np.s_[1:]), "batch 1"),
        (marked((2, 9, 4, 4), np.s_[:, 4:]), "channels 4 to 8"),
        (marked((1, 2, 3, 4, 5), np.s_[:, :, 1:2]), "depth 1"),
        (marked((3, 5, 7), np.s_[:, :, 6]), "index 6 of dimension 2"),
        (marked((3, 5, 7), np.s_[:, 1:3]), "indices 1 to 2 of dimension 1"),
        (marked((10, 40), np.s_[:, 3::10]), "every 10th column from 3 on"),
        (marked((10, 16), np.s_[:, 1::4]), "every fourth column from 1 on"),
        (marked((3, 22), np.s_[:, 12:14], np.s_[:, 16:18]), None),
        (marked((1, 12), np.s_[:, :3], np.s_[:, 8:]), "all but columns 3 to 7"),
        (marked((1031,), np.s_[256:]), "elements 256 to 1030"),
        (flat((10, 10), slice(37, None)), "elements 37 to 99 in row-major order"),
        (flat((10, 10), slice(0, 23)), "elements 0 to 22 in row-major order"),
        (flat((10, 13), slice(1, None, 4)), "every fourth element in row-major order, from 1 on"),
        (marked((4, 4), np.s_[0, 1], np.s_[1, 3], np.s_[3, 0]), None),
        (marked((9,), np.s_[4]), None),
        (marked((3, 3), np.s_[:]), None),
        (marked((3, 3)), None),
    ],
)
def test_wrong_elements_have_words(mask: np.ndarray, words: str | None) -> None:
    assert region_text(mask) == words


def test_some_elements_of_a_region_may_be_right() -> None:
    mask = marked((64, 64), np.s_[:, 32:])
    mask[5, 40] = mask[9, 33] = False
    assert region_text(mask) == "most of columns 32 to 63"
