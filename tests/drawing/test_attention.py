"""Drawn attentions: in every form and with every mask, of tensors that fit each other, so that results are defined."""

from __future__ import annotations

from itertools import product

import pytest

from dmlcheck.drawing.attention import ATTENTION, FORMS, MASKS
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.descs import drawn
from dmlcheck.drawing.units import Unit, drawn_unit
from dmlcheck.reference import engine

STACKED = tuple(form for form in FORMS if form.startswith("Stacked"))


@pytest.mark.parametrize("short", ATTENTION)
def test_every_form_and_mask_is_drawn(short: str) -> None:
    descs = [desc for desc in (drawn(f"DML_OPERATOR_{short}", seeded(number)) for number in range(160)) if desc]
    given = [(desc, [form for form in STACKED if desc.parts[f"{form}Tensor"]]) for desc in descs]
    found = {(form, desc.values["MaskType"]) for desc, forms in given for form in forms}
    assert found >= {*product(STACKED, MASKS)}
    assert {bool(desc.parts["KeyTensor"]) for desc, forms in given if not forms} == {True, False}


@pytest.mark.parametrize("short", ATTENTION)
def test_most_results_are_defined(short: str) -> None:
    units = [drawn_unit(Unit(f"DML_OPERATOR_{short}", 0, number)) for number in range(30)]
    results = [engine.evaluate(*unit)["OutputTensor"].undefined for unit in units if unit is not None]
    assert sum(undefined is None or not undefined.all() for undefined in results) > 20
