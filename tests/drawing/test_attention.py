"""Drawn attentions: in every form and with every mask, of tensors that fit each other, so that results are defined."""

from __future__ import annotations

from itertools import product

import pytest

from dmlcheck.drawing.attention import FORMS, MASKS
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.descs import drawn
from dmlcheck.drawing.units import LONG, Unit, drawn_unit
from dmlcheck.reference import engine

STACKED = tuple(form for form in FORMS if form.startswith("Stacked"))

ATTENTION = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")


@pytest.mark.parametrize("short", ATTENTION)
def test_every_form_and_mask_is_drawn(short: str) -> None:
    descs = [desc for desc in (drawn(f"DML_OPERATOR_{short}", seeded(number)) for number in range(160)) if desc]
    given = [(desc, [form for form in STACKED if desc.parts[f"{form}Tensor"]]) for desc in descs]
    found = {(form, desc.values["MaskType"]) for desc, forms in given for form in forms}
    assert found >= {*product(STACKED, MASKS)}
    assert all(desc.parts["KeyTensor"] for desc, forms in given if not forms)


@pytest.mark.parametrize("short", ATTENTION)
def test_most_results_are_defined(short: str) -> None:
    units = [drawn_unit(Unit(f"DML_OPERATOR_{short}", 0, number)) for number in range(30)]
    results = [engine.evaluate(*unit)["OutputTensor"].undefined for unit in units if unit is not None]
    assert sum(undefined is None or not undefined.all() for undefined in results) > 20


@pytest.mark.parametrize("short", ATTENTION)
def test_batches_queries_and_heads_are_longer_than_a_workgroup(short: str) -> None:
    """The elements of a head, or those of all heads together, are the width."""
    descs = [drawn(f"DML_OPERATOR_{short}", seeded(number), LONG) for number in range(60)]
    sizes = [desc["OutputTensor"].sizes for desc in descs if desc is not None]
    assert all(sum(size[axis] > 1024 for size in sizes if len(size) == 3) >= 3 for axis in range(3))


def test_a_first_step_has_lengths_of_the_past() -> None:
    descs = [drawn("DML_OPERATOR_MULTIHEAD_ATTENTION1", seeded(number)) for number in range(300)]
    given = [desc for desc in descs if desc is not None and desc.parts["PastSequenceLengthsTensor"]]
    first = [desc for desc in given if desc.parts["QueryTensor"] and desc.parts["KeyTensor"]]
    fitting = [desc for desc in first if desc["PastSequenceLengthsTensor"].sizes == desc["QueryTensor"].sizes[:1]]
    assert len(fitting) >= 3
    assert all(desc["QueryTensor"].sizes[1] == desc["KeyTensor"].sizes[1] for desc in fitting)
