"""STFT, whose frames DmlSTFT.h computes with DirectML, and transforms by ONNX's meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx_nodes import Desc, descs, zeros
from whole_models import node

from dmlcheck.models.node_verdict import NodeVerdict, Unjudged, judge_node
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.running.verdict import Limits

SIGNAL, OUTPUT, STEP = zeros(2, 128, 1), zeros(2, 15, 9, 2), np.array(8)
FRAMES = "FLOAT32 2 15 16"


def test_frames_that_overlap_are_multiplied_by_the_window() -> None:
    """15 frames of 16 samples, a step of 8 apart."""
    fields = {"ATensor": f"{FRAMES} by 128 8 1", "BTensor": f"{FRAMES} by 0 0 1", "OutputTensor": FRAMES}
    assert descs("STFT", [SIGNAL, STEP, zeros(16)], OUTPUT) == [Desc("ELEMENT_WISE_MULTIPLY", fields, "3_0")]


def test_frames_without_a_length_are_refused() -> None:
    with pytest.raises(Unmapped, match="without a step or a length of frames"):
        descs("STFT", [SIGNAL, STEP], OUTPUT)


# ---- by ONNX's meaning


def rules(made: Any, opset: int, inputs: list[Any], actual: Any) -> list[str]:
    """Return the rules that are found in an implementation's result."""
    found = judge_node(made, opset, inputs, [actual], is_directml=False, limits=Limits())
    assert isinstance(found, NodeVerdict), found
    return [finding.rule for finding in found.verdict.findings]


def parts(numbers: Any) -> Any:
    """Return complex numbers as FLOAT32, their parts in a last dimension."""
    return np.stack((numbers.real, numbers.imag), axis=-1).astype(np.float32)


def wrong(values: Any) -> Any:
    """Return values of which the largest is 0.1 % too large."""
    found = values.copy()
    place = np.unravel_index(np.abs(found).argmax(), found.shape)
    found[place] *= 1.001
    return found


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("is_inverse", [False, True])
@pytest.mark.parametrize("length", [None, 4, 5, 8])
def test_frequencies_of_any_axis(axis: int, is_complex: bool, is_inverse: bool, length: int | None) -> None:
    signal = np.random.default_rng(axis).uniform(-1, 1, (4, 8, 5, 1 + is_complex)).astype(np.float32)
    numbers = signal[..., 0] + 1j * signal[..., 1] if is_complex else signal[..., 0].astype(complex)
    right = parts((np.fft.ifft if is_inverse else np.fft.fft)(numbers, length, axis=axis))
    inputs = [signal, None if length is None else np.array(length)]
    before = node("DFT", "x n" if length else "x", "y", axis=axis, inverse=int(is_inverse))
    now = node("DFT", "x n a" if length else "x - a", "y", inverse=int(is_inverse))
    for actual, expected in ((right, []), (wrong(right), ["output-mismatch"])):
        assert rules(before, 17, inputs[: 1 + (length is not None)], actual) == expected
        assert rules(now, 20, [*inputs, np.array(axis)], actual) == expected


@pytest.mark.parametrize("length", [16, 15, 400])
def test_half_of_the_frequencies(length: int) -> None:
    signal = np.random.default_rng(length).uniform(-1, 1, (2, length, 1)).astype(np.float32)
    right = parts(np.fft.rfft(signal[..., 0].astype(float), axis=1))
    made = node("DFT", "x", "y", axis=1, onesided=1)
    assert rules(made, 17, [signal], right) == []
    assert rules(made, 17, [signal], right[:, ::-1].copy()) == ["output-mismatch"]


@pytest.mark.parametrize("is_onesided", [True, False])
@pytest.mark.parametrize("window", [None, np.hanning(16).astype(np.float32)])
def test_spectra_of_frames(is_onesided: bool, window: Any) -> None:
    signal = np.random.default_rng(3).uniform(-1, 1, (2, 128, 1)).astype(np.float32)
    frames = np.stack([signal[:, at : at + 16, 0].astype(float) for at in range(0, 113, 8)], axis=1)
    weighted = frames if window is None else frames * window
    right = parts(np.fft.rfft(weighted) if is_onesided else np.fft.fft(weighted))
    made = node("STFT", "x s - l" if window is None else "x s w l", "y", onesided=int(is_onesided))
    inputs = [signal, np.array(8), window, np.array(16)]
    assert rules(made, 17, inputs, right) == []
    assert rules(made, 17, inputs, wrong(right)) == ["output-mismatch"]


@pytest.mark.parametrize(("sizes", "is_aligned"), [((4, 5), False), ((4, 5), True), ((3, 4, 5), False)])
def test_coordinates_of_an_affine_map(sizes: tuple[int, ...], is_aligned: bool) -> None:
    count = len(sizes)
    theta = np.random.default_rng(count).uniform(-1, 1, (2, count, count + 1)).astype(np.float32)
    right = np.empty((2, *sizes, count), np.float32)
    for n, *at in np.ndindex(2, *sizes):
        places = [
            2 * i / (size - 1) - 1 if is_aligned else (2 * i + 1) / size - 1 for i, size in zip(at, sizes, strict=True)
        ]
        right[(n, *at)] = theta[n].astype(float) @ [*reversed(places), 1]
    made = node("AffineGrid", "t z", "y", align_corners=int(is_aligned))
    inputs = [theta, np.array([2, 1, *sizes])]
    assert rules(made, 20, inputs, right) == []
    assert rules(made, 20, inputs, right[..., ::-1].copy()) == ["output-mismatch"]


def sampled(x: Any, grid: Any, *, is_aligned: bool, has_border: bool) -> Any:
    """Return the four elements around each place, weighted, as the operator's text has it; outside are zeros."""
    batch, channels, height, width = x.shape
    found = np.zeros((batch, channels, *grid.shape[1:3]))
    for n, i, j in np.ndindex(batch, *grid.shape[1:3]):
        at = []
        for coordinate, size in zip(grid[n, i, j].tolist(), (width, height), strict=True):
            place = (coordinate + 1) / 2 * (size - 1) if is_aligned else ((coordinate + 1) * size - 1) / 2
            at.append(min(max(place, 0), size - 1) if has_border else place)
        left, top = (math.floor(place) for place in at)
        for column, row in ((left, top), (left + 1, top), (left, top + 1), (left + 1, top + 1)):
            if 0 <= column < width and 0 <= row < height:
                share = (1 - abs(at[0] - column)) * (1 - abs(at[1] - row))
                found[n, :, i, j] += share * x[n, :, row, column].astype(float)
    return found.astype(np.float32)


@pytest.mark.parametrize("is_aligned", [False, True])
@pytest.mark.parametrize("has_border", [False, True])
@pytest.mark.parametrize("opset", [16, 20])
def test_samples_of_a_grid(is_aligned: bool, has_border: bool, opset: int) -> None:
    numbers = np.random.default_rng(opset)
    x = numbers.uniform(-1, 1, (2, 3, 4, 6)).astype(np.float32)
    grid = numbers.uniform(-1.6, 1.6, (2, 5, 7, 2)).astype(np.float32)
    grid[0, 0, :3] = [[-1, 1], [1, 1], [1 / 3, -0.5]]  # corners, and elements of the input
    mode, padding = "bilinear" if opset == 16 else "linear", "border" if has_border else "zeros"
    made = node("GridSample", "x g", "y", mode=mode, padding_mode=padding, align_corners=int(is_aligned))
    right = sampled(x, grid, is_aligned=is_aligned, has_border=has_border)
    others = [
        wrong(right),
        sampled(x, grid[..., ::-1], is_aligned=is_aligned, has_border=has_border),
        sampled(x, grid, is_aligned=not is_aligned, has_border=has_border),
        sampled(x, grid, is_aligned=is_aligned, has_border=not has_border),
    ]
    assert rules(made, opset, [x, grid], right) == []
    assert [rules(made, opset, [x, grid], other) for other in others] == [["output-mismatch"]] * 4


@pytest.mark.parametrize(
    ("made", "inputs", "sizes", "reason"),
    [
        (node("STFT", "x s - l", "y"), [zeros(1, 32, 2), np.array(8), None, np.array(16)], (1, 3, 9, 2), "complex"),
        (node("AffineGrid", "t z", "y", align_corners=1), [zeros(1, 2, 3), np.array([1, 1, 1, 4])], (1, 1, 4, 2), "of"),
        (
            node("GridSample", "x g", "y", mode="cubic"),
            [zeros(1, 1, 3, 3), zeros(1, 2, 2, 2)],
            (1, 1, 2, 2),
            "in mode cubic",
        ),
        (node("DFT", "x", "y", axis=1, onesided=1, inverse=1), [zeros(1, 5, 2)], (1, 8, 1), "DFT of the sizes"),
    ],
)
def test_what_is_not_computed_says_why(made: Any, inputs: list[Any], sizes: tuple[int, ...], reason: str) -> None:
    found = judge_node(made, 20, inputs, [np.zeros(sizes, np.float32)], is_directml=False, limits=Limits())
    assert isinstance(found, Unjudged)
    assert reason in found.reason
