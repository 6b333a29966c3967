"""The versions of an operator."""

from __future__ import annotations

import pytest

from dmlcheck.specs.lineage import lineage, older_operator, version
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER


def spec_of(short: str):  # noqa: ANN201 - an OperatorSpec
    return load_spec(f"DML_OPERATOR_{short}")


@pytest.mark.parametrize(
    ("short", "older"),
    [
        ("RESAMPLE", None),
        ("RESAMPLE1", "RESAMPLE"),
        ("RESAMPLE3", "RESAMPLE2"),
        ("ELEMENT_WISE_CLIP1", "ELEMENT_WISE_CLIP"),
        ("ARGMAX", "REDUCE"),
        ("UPSAMPLE_2D", None),
        ("GEMM", None),
    ],
)
def test_the_operator_before_is_the_version_before_or_the_one_superseded(short: str, older: str | None) -> None:
    assert older_operator(spec_of(short)) == (older and f"DML_OPERATOR_{older}")


def test_what_is_superseded_comes_before() -> None:
    for name in operator_names():
        if load_spec(name).supersedes:
            assert older_operator(load_spec(name)) == load_spec(name).supersedes[0]


def test_the_versions_stand_in_the_order_in_which_they_came() -> None:
    versions = lineage(spec_of("RESAMPLE1"))
    assert [each.operator[13:] for each in versions] == ["RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"]
    assert [each.added for each in versions] == [
        (),
        ("DimensionCount", "InputPixelOffsets", "OutputPixelOffsets"),
        ("RoundingDirection",),
        ("Antialiased",),
    ]
    assert versions[1].removed == ("ScaleCount",)
    assert versions[0].text == ""
    assert all(each.text for each in versions[1:])
    for name in operator_names():
        levels = [LEVEL_ORDER[each.introduced] for each in lineage(load_spec(name))]
        assert levels == sorted(levels)


def test_an_operator_of_one_version_has_no_lineage() -> None:
    assert lineage(spec_of("GEMM")) == ()
    assert version(spec_of("GEMM")) == ("DML_OPERATOR_GEMM", "1_0", "", (), ())


def test_fields_that_a_version_adds_are_named_in_what_it_changed() -> None:
    untold = {
        (each.operator[13:], name)
        for operator in operator_names()
        for each in [version(load_spec(operator))]
        for name in each.added
        if name not in each.text
    }
    assert {name for _, name in untold} == {"AxisCount", "DimensionCount"}  # which follow from their arrays
