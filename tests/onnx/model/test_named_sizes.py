"""Sizes that are computed from named ones, as exporters write them."""

from __future__ import annotations

import pytest
from whole_models import model, node, save

from dmlcheck.onnx.model.file import read_whole, symbols_of
from dmlcheck.onnx.model.named_sizes import names_of_size, options_of, size_of

SIZES = {"past": 4, "seq": 3, "s0": 7, "batch-size": 2, "a + b": 9}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("seq", 3),
        ("past + seq", 7),
        ("past+1", 5),
        ("2*s0 - seq", 11),
        ("((s0 - 1)//2) + 1", 4),
        ("floor(s0/2)", 3),
        ("ceiling(s0/2)", 4),
        ("Max(1, s0, seq)", 7),
        ("Min(s0, past)", 4),
        ("s0 % 4", 3),
        ("s0 / 2", None),
        ("seq - s0", None),
        ("s0 // (past - 4)", None),
        ("past + other", None),
        ("batch-size", 2),
        ("a + b", 9),
        ("other", None),
        ("12", None),
        ("exec(seq)", None),
        ("seq.real", None),
        ("'seq' * 3", None),
        ("seq ** 2", None),
        ("floor()", None),
        ("-" * 400 + "seq", None),
        ("seq + " * 400 + "seq", None),
    ],
)
def test_a_size_is_computed_from_names(text: str, number: int | None) -> None:
    assert size_of(text, SIZES.get) == number


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("past + seq", ["past", "seq"]),
        ("Max(1, s0)*s0", ["s0"]),
        ("batch size", ["batch size"]),
        ("seq.real", ["seq.real"]),
        ("N", ["N"]),
    ],
)
def test_the_names_of_a_size_are_found(text: str, names: list[str]) -> None:
    assert names_of_size(text) == names
    assert names_of_size("past + seq", {"past": 1}) == ["seq"]


def test_options_are_as_a_shell_takes_them() -> None:
    assert options_of(["N", "x:0", "batch size"]) == ["--dim N=SIZE", "--dim x:0=SIZE", '--dim "batch size=SIZE"']


@pytest.mark.usefixtures("folder")
def test_sizes_given_for_names_are_those_of_what_is_computed_from_them() -> None:
    made = save(model([node("Add", "x m", "y")], {"x": ["n", "past"], "m": ["n", "past + seq"]}, {"y": [1]}))
    whole = read_whole(made, {"past": 4})
    assert symbols_of(whole.proto, {"past": 4}) == ["n", "seq"]
    assert {"n", "past", "seq", "past + seq"} <= whole.symbols
    whole = read_whole(made, {"past": 4, "seq": 3})
    assert [dim.dim_value for dim in whole.proto.graph.input[1].type.tensor_type.shape.dim] == [0, 7]
