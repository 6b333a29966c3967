"""Random descs: valid, of sizes that were asked for, the same for a seed, and of every operator."""

from __future__ import annotations

from itertools import product

import pytest

from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.descs import FORMS, MASKS, drawn, drawn_fields, made_valid
from dmlcheck.drawing.draft import SMALL, Sizes, draft
from dmlcheck.drawing.units import LONG, Unit, drawn_unit
from dmlcheck.reference import engine
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL
from dmlcheck.validation import validate

DRAFTS = 30


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_at_least_95_of_100_drafts_become_valid(operator: str) -> None:
    spec, chance = load_spec(operator), seeded(operator)
    drafts = [draft(spec, chance, SMALL, NEWEST_LEVEL) for _ in range(DRAFTS)]
    made = [made_valid(spec, fields, chance, SMALL, NEWEST_LEVEL) for fields in drafts]
    valid = [fields for fields in made if fields is not None]
    assert len(valid) >= 0.95 * DRAFTS
    for fields in valid:
        desc, findings = validate(operator, fields, NEWEST_LEVEL)
        assert not findings
        assert desc is not None
        assert all(part.tensor.element_count <= SMALL.most for part in desc.tensors())


def test_a_seed_draws_the_same_desc_and_another_seed_another() -> None:
    first, again, other = (drawn_fields("DML_OPERATOR_GEMM", seeded(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first is not None
    assert first != other


def test_sizes_are_those_that_are_asked_for() -> None:
    for seed in range(20):
        desc = drawn("DML_OPERATOR_ACTIVATION_RELU", seeded(seed), Sizes((1, 17), 17 * 17))
        assert desc is not None
        sizes = desc["InputTensor"].sizes
        assert set(sizes) <= {1, 17}
        assert desc["InputTensor"].element_count <= 17 * 17


def test_a_desc_is_valid_at_the_level_that_is_asked_for() -> None:
    for level in sorted(LEVEL_ORDER, key=LEVEL_ORDER.__getitem__)[5::3]:
        fields = drawn_fields("DML_OPERATOR_GATHER", seeded(level), level=level)
        assert fields is not None
        assert validate("DML_OPERATOR_GATHER", fields, level)[1] == []


# ---- drawn attentions


STACKED = tuple(form for form in FORMS if form.startswith("Stacked"))

ATTENTION = ("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")


@pytest.mark.slow
@pytest.mark.parametrize("short", ATTENTION)
def test_every_form_and_mask_is_drawn(short: str) -> None:
    descs = [desc for desc in (drawn(f"DML_OPERATOR_{short}", seeded(number)) for number in range(160)) if desc]
    given = [(desc, [form for form in STACKED if desc.parts[f"{form}Tensor"]]) for desc in descs]
    found = {(form, desc.values["MaskType"]) for desc, forms in given for form in forms}
    assert found >= {*product(STACKED, MASKS)}
    assert all(desc.parts["KeyTensor"] for desc, forms in given if not forms)


@pytest.mark.slow
@pytest.mark.parametrize("short", ATTENTION)
def test_most_results_are_defined(short: str) -> None:
    units = [drawn_unit(Unit(f"DML_OPERATOR_{short}", 0, number)) for number in range(30)]
    results = [engine.evaluate(*unit)["OutputTensor"].undefined for unit in units if unit is not None]
    assert sum(undefined is None or not undefined.all() for undefined in results) > 20


@pytest.mark.slow
@pytest.mark.parametrize("short", ATTENTION)
def test_batches_queries_and_heads_are_longer_than_a_workgroup(short: str) -> None:
    """The elements of a head, or those of all heads together, are the width."""
    descs = [drawn(f"DML_OPERATOR_{short}", seeded(number), LONG) for number in range(60)]
    sizes = [desc["OutputTensor"].sizes for desc in descs if desc is not None]
    assert all(sum(size[axis] > 1024 for size in sizes if len(size) == 3) >= 3 for axis in range(3))


@pytest.mark.slow
def test_a_first_step_has_lengths_of_the_past() -> None:
    descs = [drawn("DML_OPERATOR_MULTIHEAD_ATTENTION1", seeded(number)) for number in range(300)]
    given = [desc for desc in descs if desc is not None and desc.parts["PastSequenceLengthsTensor"]]
    first = [desc for desc in given if desc.parts["QueryTensor"] and desc.parts["KeyTensor"]]
    fitting = [desc for desc in first if desc["PastSequenceLengthsTensor"].sizes == desc["QueryTensor"].sizes[:1]]
    assert len(fitting) >= 3
    assert all(desc["QueryTensor"].sizes[1] == desc["KeyTensor"].sizes[1] for desc in fitting)
