"""Operators for which the provider has shaders of its own; DirectML computes the frames of STFT, and no other.

From DmlSTFT.h, DmlDFT.h and DmlGridSample.h of ONNX Runtime's DirectML provider.
"""

from __future__ import annotations

from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, RefusedNode, Unmapped
from dmlcheck.onnx.descs.steps import identity, pair
from dmlcheck.onnx.operators.row import BY_SHADERS, Row


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


OPERATORS: dict[str, Row] = {
    "DFT": Row(elsewhere=BY_SHADERS, refusal=_refusal_of_dft),
    "GridSample": Row(elsewhere=BY_SHADERS),
    "STFT": Row(provider=_frames),
}
