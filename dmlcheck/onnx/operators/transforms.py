"""Transforms by ONNX's meaning: GEMMs with matrices that implementations compute for themselves.

The provider has shaders of its own for DFT and GridSample; of STFT DirectML computes the frames. From DmlSTFT.h,
DmlDFT.h and DmlGridSample.h of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

import math

import numpy as np

from dmlcheck.diagnostics.wording import dimensions_text
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped, axis_of
from dmlcheck.onnx.descs.steps import identity, pair, product, step, unary, window
from dmlcheck.onnx.operators.row import BY_SHADERS, Row

_U = 2.0**-24  # the roundings of an implementation, which has matrices in FLOAT32
_MOST = 2**24  # elements of a matrix
_MOST_SAMPLED = 2**25  # products of rows and places of a GridSample


def _matrix(exact: Array, like: TensorRef, roundings: float = 4) -> TensorRef:
    """Return a matrix that implementations compute with some roundings of its largest element in FLOAT32."""
    errors = np.full(exact.shape, roundings * _U * np.abs(exact).max())
    return TensorRef.computed(exact, errors, like.element)


# ---- frequencies


def _waves(x: TensorRef, rows: int, length: int, count: int, *, is_complex: bool, is_inverse: bool) -> TensorRef:
    """Return the shares of the first numbers of a signal x in its frequencies, whose parts stand in turn.

    Of complex numbers the imaginary part has a row of its own. Where the length is no power of 2, implementations take
    waves of angles up to pi times the length, which may be rounded.
    """
    if 4 * rows * count > _MOST:
        raise Unmapped(f"a DFT of {length:,} numbers")
    turns = np.outer(np.arange(rows), np.arange(count)) % length
    angle = 2 * math.pi / length * turns * (1 if is_inverse else -1)
    cosine, sine = np.cos(angle), np.sin(angle)
    of_real = np.stack((cosine, sine), axis=-1).reshape(rows, -1)
    if is_complex:
        of_imaginary = np.stack((-sine, cosine), axis=-1).reshape(rows, -1)
        of_real = np.stack((of_real, of_imaginary), axis=1).reshape(2 * rows, -1)
    roundings = 4 if length & (length - 1) == 0 else 4 + math.pi * length
    return _matrix(of_real / length if is_inverse else of_real, x, roundings)


def _dft(node: OnnxNode) -> list[Counterpart]:
    """Return a GEMM along an axis; other axes after it are moved before it first."""
    x, output = node.input(0), node.output()
    axis = _axis_of_dft(node)
    is_complex, is_inverse = x.shape[-1] == 2, bool(node.get("inverse", 0))
    if output.shape[-1] != 2 or axis == x.ndim - 1 or x.shape[-1] not in (1, 2):
        raise Unmapped(f"DFT of the sizes {list(x.shape)} along axis {axis} to the sizes {list(output.shape)}")
    given = node.known(1)
    length = x.shape[axis] if given is None else int(given.reshape(-1)[0])
    used, count = min(length, x.shape[axis]), output.shape[axis]
    order = [*(each for each in range(x.ndim - 1) if each != axis), axis, x.ndim - 1]
    signal = x.transpose(order).packed()
    cut = signal
    if used < x.shape[axis]:
        cut = signal.view((*signal.shape[:-2], used, signal.shape[-1]), signal.steps).packed()
    outer = math.prod(cut.shape[:-2])
    waves = _waves(x, used, length, count, is_complex=is_complex, is_inverse=is_inverse)
    found = x.like((outer, waves.shape[1]))
    made = [product(cut.reshape(outer, waves.shape[0]), waves, found)]
    spectrum = found.view((*cut.shape[:-2], count, 2))
    back = np.argsort(order).tolist()
    return [*made, identity(spectrum.transpose(back), output)]


def _axis_of_dft(node: OnnxNode) -> int:
    """Return the axis: an input of opset 20, and an attribute before."""
    x, given = node.input(0), node.known(2)
    axis = node.whole("axis", 1 if node.opset < 20 else -2) if given is None else int(given.reshape(-1)[0])
    return axis_of(axis, x.ndim)


def _spectra(node: OnnxNode) -> list[Counterpart]:
    """Return the frames, and a GEMM of them."""
    made, output = _frames(node), node.output()
    frames = made[-1].fields["OutputTensor"]
    size, count = frames.shape[-1], output.shape[2]
    if node.input(0).ndim == 3 and node.input(0).shape[2] != 1:
        raise Unmapped("STFT of complex numbers")
    waves = _waves(frames, size, size, count, is_complex=False, is_inverse=False)
    spectra = output.view((*output.shape[:2], 2 * count))
    return [*made, product(frames, waves.broadcast_to((frames.shape[0], *waves.shape)), spectra)]


def _frames(node: OnnxNode) -> list[Counterpart]:
    """Return the frames of the signal, which overlap in it, multiplied by the window if there is one."""
    signal, window, output = node.input(0), node.optional(2), node.output()
    step, length = node.known(1), node.known(3)
    if signal.ndim not in (2, 3) or output.ndim != 4 or step is None or (window is None and length is None):
        raise Unmapped(f"{node.type} of a signal of {signal.ndim} dimensions, without a step or a length of frames")
    size = int(length.reshape(-1)[0]) if window is None and length is not None else node.input(2).size
    frames = signal.like((signal.shape[0], output.shape[1], size))
    overlapping = signal.view(frames.shape, (signal.shape[1], int(step.reshape(-1)[0]), 1))
    if window is None:
        return [identity(overlapping, frames)]
    return [pair("MULTIPLY", overlapping, window.reshape(-1), frames)]


def _refusal_of_dft(node: OnnxNode) -> RefusedNode | None:
    """Return the refusal of an inverse of half the frequencies: the onnx of the release infers no sizes of it."""
    if not (node.get("inverse", 0) and node.get("onesided", 0)):
        return None
    help = "give DFT all frequencies, with onesided 0: the missing half is the other one, conjugated and backwards"
    return RefusedNode("ONNX Runtime refuses a DFT that is both inverse and onesided", help)


# ---- coordinates


def _affine(node: OnnxNode) -> list[Counterpart]:
    """Return the product of the coordinates of all elements, x first, and the matrices."""
    theta, output = node.input(0), node.output()
    *sizes, dimensions = output.shape[1:]
    is_aligned = bool(node.get("align_corners", 0))
    if len(sizes) != dimensions or dimensions not in (2, 3) or (is_aligned and 1 in sizes):
        raise Unmapped(f"AffineGrid of the sizes {list(output.shape)}")
    if math.prod(sizes) * 4 > _MOST:
        raise Unmapped(f"AffineGrid of {math.prod(sizes):,} elements")
    lines = [
        2 * np.arange(size) / (size - 1) - 1 if is_aligned else (2 * np.arange(size) + 1) / size - 1 for size in sizes
    ]
    grids = np.meshgrid(*lines, indexing="ij")
    places = np.stack([*(grid.reshape(-1) for grid in reversed(grids)), np.ones(math.prod(sizes))], axis=-1)
    matrix = _matrix(places, theta)
    coordinates = matrix.broadcast_to((theta.shape[0], *matrix.shape))
    found = output.view((theta.shape[0], matrix.shape[0], dimensions))
    return [product(coordinates, theta, found, TransB="TRANSPOSE")]


def _sampled(node: OnnxNode) -> list[Counterpart]:
    """Return the sums of all elements, weighted by 1 less the distance, or 0 from a distance of 1 on, in both axes."""
    x, grid, output = node.input(0), node.input(1), node.output()
    mode, padding = node.get("mode", "linear"), node.get("padding_mode", "zeros")
    if x.ndim != 4 or mode not in ("bilinear", "linear") or padding not in ("border", "zeros"):
        raise Unmapped(f"GridSample of {dimensions_text(x.ndim)} in mode {mode} with {padding} outside")
    batch, channels, height, width = x.shape
    places = math.prod(output.shape[2:])
    if batch * channels * height * places > _MOST_SAMPLED:
        raise Unmapped(f"GridSample of {places:,} places in {batch * channels * height:,} rows")
    made, (across, down) = [], _weights(node, grid.view((batch, places, 2)), (width, height))
    for weights in (across, down):
        made += weights
    of_x, of_y = (weights[-1].fields["OutputTensor"] for weights in (across, down))
    rows = x.like((batch, channels * height, places))
    made.append(product(x.view((batch, channels * height, width)), of_x, rows, TransB="TRANSPOSE"))
    shape = (batch, channels, height, places)
    weighted, by_row = x.like(shape), of_y.transpose((0, 2, 1)).reshape(batch, 1, height, places)
    made.append(pair("MULTIPLY", rows.view(shape), by_row, weighted))
    found = output.view((batch, channels, 1, places))
    return [*made, step("REDUCE", Function="SUM", InputTensor=weighted, OutputTensor=found, Axes=[2])]


def _weights(node: OnnxNode, grid: TensorRef, sizes: tuple[int, ...]) -> list[list[Counterpart]]:
    """Return for each coordinate of a grid, x first, the steps to the weights {batch, places, size} of all elements."""
    is_aligned, is_clipped = bool(node.get("align_corners", 0)), node.get("padding_mode", "zeros") == "border"
    found = []
    for axis, size in enumerate(sizes):
        half = np.array([(size - 1 if is_aligned else size) / 2])
        given, scaled, place = (grid.like((*grid.shape[:2], 1)) for _ in range(3))
        middle = TensorRef.computed(np.array([(size - 1) / 2]), 4 * _U * half, grid.element, are_shared=False)
        steps = [
            window(grid, given, (0, 0, axis)),
            pair("MULTIPLY", given, TensorRef.of(half.astype(grid.dtype)), scaled),
            pair("ADD", scaled, middle, place),
        ]
        if is_clipped:
            inside = place.unknown()
            steps.append(step("ELEMENT_WISE_CLIP", InputTensor=place, OutputTensor=inside, Min=0, Max=size - 1))
            place = inside
        off, distance, left, weights = (grid.like((*grid.shape[:2], size)) for _ in range(4))
        steps += [
            pair("SUBTRACT", place, TensorRef.of(np.arange(size).astype(grid.dtype)), off),
            unary("ELEMENT_WISE_ABS", off, distance),
            pair("SUBTRACT", TensorRef.of(np.ones(1, grid.dtype)), distance, left),
            unary("ACTIVATION_RELU", left, weights),
        ]
        found.append(steps)
    return found


OPERATORS: dict[str, Row] = {
    "AffineGrid": Row(exact=_affine),
    "DFT": Row(exact=_dft, elsewhere=BY_SHADERS, refusal=_refusal_of_dft),
    "GridSample": Row(exact=_sampled, elsewhere=BY_SHADERS),
    "STFT": Row(exact=_spectra, provider=_frames),
}
