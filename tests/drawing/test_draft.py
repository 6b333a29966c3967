"""First drafts of descs: types and numbers of dimensions that the tables have, and fields of their types."""

from __future__ import annotations

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.draft import SMALL, Sizes, attribute, draft
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS, NEWEST_LEVEL

OF_FORM = {"field-type", "unknown-field", "unknown-enum-value", "unknown-operator"}


@pytest.mark.slow
def test_a_draft_has_no_mistake_of_form_whatever_the_operator() -> None:
    for operator in operator_names():
        for seed in range(3):
            fields = draft(load_spec(operator), seeded(f"{operator} {seed}"), SMALL, NEWEST_LEVEL)
            assert OF_FORM.isdisjoint(finding.rule for finding in read_desc(operator, fields).findings)


def test_optional_tensors_and_fields_are_there_and_left_out() -> None:
    spec = load_spec("DML_OPERATOR_GEMM")
    given = [frozenset(draft(spec, seeded(seed), SMALL, NEWEST_LEVEL)) for seed in range(60)]
    for name in ("CTensor", "FusedActivation"):
        assert 5 < sum(name in fields for fields in given) < 55


def test_every_value_of_an_enumeration_is_drawn() -> None:
    spec = load_spec("DML_OPERATOR_PADDING")
    field = spec.fields["PaddingMode"]
    found = {attribute(field, seeded(seed), 2, SMALL) for seed in range(100)}
    assert found == set(ENUMS["DML_PADDING_MODE"])


def test_one_size_of_pooled_regions_may_be_long() -> None:
    field = load_spec("DML_OPERATOR_ROI_POOLING").fields["PooledSize"]
    found = [attribute(field, seeded(seed), 4, Sizes((2, 1031), 40_000)) for seed in range(60)]
    assert {max(each.values()) for each in found} >= {2, 3, 1031}
    assert {name for each in found for name, size in each.items() if size == 1031} == {"Width", "Height"}
