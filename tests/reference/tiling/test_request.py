"""What is to be cut into tiles."""

from __future__ import annotations

from installed import TOP_K, described

from dmlcheck.reference.bindings import row
from dmlcheck.reference.tiling.request import Request, parameters_of


def test_a_tile_has_a_place_in_the_one_output_or_in_each_by_name() -> None:
    tensor = ("FLOAT32", 2)
    relu = described("ACTIVATION_RELU", InputTensor=tensor, OutputTensor=tensor)
    places = [
        Request(desc, row(desc.spec.operator), max, {}, {}, is_exact=True, is_integer=False, arithmetic=None).where(
            dict.fromkeys(names, 0)
        )
        for desc, names in ((relu, ["output"]), (described("TOP_K", **TOP_K), ["output_value", "output_index"]))
    ]
    assert places == [0, {"output_value": 0, "output_index": 0}]


def test_a_formula_is_asked_for_its_parameters_once() -> None:
    def formula(x: int, *, places: int) -> int:
        return x + places

    parameters_of.cache_clear()
    assert parameters_of(formula) == parameters_of(formula) == {"x", "places"}
    assert parameters_of.cache_info().hits == 1
