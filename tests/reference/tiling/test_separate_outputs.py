"""Outputs that are computed apart, in sections with formulas of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from installed import Install, described, floats, install

from dmlcheck.reference import engine
from dmlcheck.reference.arrays.places import Places, part_at
from dmlcheck.reference.results import UNDEFINED
from dmlcheck.reference.rows import Cut, Kernel, Section, SeparateOutputs
from dmlcheck.reference.tiling import cut

__all__ = ["install"]


def section(formula: Any, start: int, stop: int, **tensors: Any) -> Section:
    """Return a section of a row, from one place to before another."""

    def where(places: Places, _: Any) -> Any:
        return 0, slice(places[1].start + start, places[1].stop + start)

    needs = {name: lambda _, places, __, x=x: part_at(x, places) for name, x in tensors.items()}
    return Section(formula, Cut(None, needs, sizes=lambda _: (1, stop - start), where=where), is_exact=True)


def test_the_other_outputs_have_sections_with_formulas_of_their_own(install: Install, monkeypatch: Any) -> None:
    """Here the indices are two of the input, twice one, and an undefined one."""

    def tiles(given: Any) -> SeparateOutputs:
        x = given["input"].astype(np.uint32)
        parts = [
            section(lambda x: x, 0, 2, x=x),
            section(lambda x: 2 * x, 2, 3, x=x[:, 2:]),
            section(lambda: UNDEFINED, 3, 4),
            section(lambda: UNDEFINED, 4, 4),
        ]
        return SeparateOutputs(Cut(), {"output_index": parts})

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
