"""Random descs: valid, of sizes that were asked for, the same for a seed, and of every operator."""

from __future__ import annotations

import pytest

from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.descs import drawn, drawn_fields, made_valid
from dmlcheck.drawing.draft import SMALL, Sizes, draft
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER, NEWEST_LEVEL
from dmlcheck.validation import validate

DRAFTS = 30


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
