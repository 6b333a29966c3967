"""Outputs that are computed apart, in stretches with formulas of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from installed import Install, described, floats, install

from dmlcheck.reference import engine
from dmlcheck.reference.places import Places, part_at
from dmlcheck.reference.results import UNDEFINED
from dmlcheck.reference.rows import Apart, Cut, Kernel, Stretch
from dmlcheck.reference.tiling import cut

__all__ = ["install"]


def stretch(formula: Any, start: int, stop: int, **tensors: Any) -> Stretch:
    """Return a stretch of a row, from one place to before another."""

    def where(places: Places, _: Any) -> Any:
        return 0, slice(places[1].start + start, places[1].stop + start)

    needs = {name: lambda _, places, __, x=x: part_at(x, places) for name, x in tensors.items()}
    return Stretch(formula, Cut(None, needs, sizes=lambda _: (1, stop - start), where=where), is_exact=True)


def test_the_other_outputs_have_stretches_with_formulas_of_their_own(install: Install, monkeypatch: Any) -> None:
    """Here the indices are two of the input, twice one, and an undefined one."""

    def tiles(given: Any) -> Apart:
        x = given["input"].astype(np.uint32)
        parts = [
            stretch(lambda x: x, 0, 2, x=x),
            stretch(lambda x: 2 * x, 2, 3, x=x[:, 2:]),
            stretch(lambda: UNDEFINED, 3, 4),
            stretch(lambda: UNDEFINED, 4, 4),
        ]
        return Apart(Cut(), {"output_index": parts})

    monkeypatch.setattr(cut, "BLOCK", 1)
    install("TOP_K", Kernel(lambda input: -input, tiles))
    sizes = ("FLOAT32", 1, 4)
    fields = {"InputTensor": sizes, "OutputValueTensor": sizes, "OutputIndexTensor": ("UINT32", 1, 4)}
    desc = described("TOP_K", **fields, Axis=1, K=4)
    found = engine.evaluate(desc, {"InputTensor": floats(3, 1, 4, 1).reshape(1, 4)})
    assert found["OutputValueTensor"].values.tolist() == [[-3, -1, -4, -1]]
    index = found["OutputIndexTensor"]
    assert index.values[0, :3].tolist() == [3, 1, 8]
    assert index.undefined is not None
    assert index.undefined.tolist() == [[False, False, False, True]]
