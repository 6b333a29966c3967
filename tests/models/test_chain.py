"""The reference's way through a whole model: tolerances at the outputs, what is lost on the way, who adds errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from node_graphs import float32, graph, node_of
from onnx import helper
from run_models import one_input
from whole_models import node

from dmlcheck.comparison.records import OutputResult
from dmlcheck.graphs.records import Graph
from dmlcheck.graphs.tensor_bounds import Carried, off_by
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.models.cases import Loaded, node_cases
from dmlcheck.models.chain import Chain, NodeShare, follow_node, is_of_sizes, known_arrays
from dmlcheck.models.node_verdict import Unjudged
from dmlcheck.running.verdict import Limits

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(5)


def random(*sizes: int) -> Array:
    return RANDOM.standard_normal(sizes).astype(np.float32)


def named(type: str, inputs: dict[str, Array], output: str, like: TensorRef, **attributes: Any) -> Graph:
    """Return a node as a graph whose tensors have names of a model."""
    made = graph(node_of(type, [*inputs.values()], like, **attributes))
    names = {**{f"input {i}": name for i, name in enumerate(inputs)}, "output 0": output}
    steps = tuple(
        step._replace(
            inputs={k: names.get(v, v) for k, v in step.inputs.items()},
            outputs={k: names.get(v, v) for k, v in step.outputs.items()},
        )
        for step in made.steps
    )
    return made._replace(steps=steps, inputs=tuple(inputs), outputs=(output,))


def layers(count: int, fault: int = -1) -> tuple[Chain, Array]:
    """Return the chain through layers of MatMul and Relu, and what FLOAT32 gives; one may be off by 2^-9."""
    x, weights = random(4, 16), [random(16, 16) / 4 for _ in range(count)]
    chain = Chain({"x0": x, **{f"w{i}": w for i, w in enumerate(weights)}}, Limits())
    for i, w in enumerate(weights):
        y = x @ w
        y = y * np.float32(1 + 2.0**-9) if i == fault else y
        chain.add(f"MatMul {i}", named("MatMul", {f"x{i}": x, f"w{i}": w}, f"y{i}", float32(4, 16)), {f"y{i}": y})
        x = np.maximum(y, 0)
        chain.add(f"Relu {i}", named("Relu", {f"y{i}": y}, f"x{i + 1}", float32(4, 16)), {f"x{i + 1}": x})
    return chain, x


def test_a_layer_that_is_off_shows_in_the_output() -> None:
    chain, x = layers(6, fault=2)
    found = chain.output("x6", x, 12)
    assert [finding.rule for finding in found.verdict.findings] == ["output-mismatch"]
    (output,) = found.verdict.outputs.values()
    assert output.decided_by.startswith("the formulas of all 12 nodes before it")


def test_where_the_tolerance_becomes_infinite_is_named() -> None:
    x = np.array([0.5, 2.0], np.float32)
    chain = Chain({"x": x}, Limits())
    chain.give_up({"y": x}, "Custom is not computed: no operator")
    chain.add("Neg", named("Neg", {"y": x}, "z", float32(2)), {"z": -x})
    assert chain.output("z", -x, 2).reason == "Custom is not computed: no operator"


def test_what_follows_from_a_tensor_without_bounds_has_none_and_is_computed_all_the_same() -> None:
    """A normalization has a range; its factors are roots of constants, which have bounds."""
    x, squares = random(2, 8), np.full(8, 2.0, np.float32)
    roots, sizes = np.sqrt(squares), float32(2, 8)
    chain = Chain({"x": x}, Limits())
    chain.give_up({"y": x}, "Custom is not computed: no operator")
    constants = {"c": squares.view(np.uint8)}
    chain.add("Sqrt", named("Sqrt", {"c": squares}, "w", float32(8)), {"w": roots}, constants)
    normal = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) * roots
    made = named("LayerNormalization", {"y": x, "w": roots}, "n", sizes, epsilon=0.0)
    chain.add("Norm", made, {"n": normal})
    chain.add("Neg", named("Neg", {"n": normal}, "z", sizes), {"z": -normal})
    found = chain.output("z", -normal, 4)
    assert found.reason == "Custom is not computed: no operator"
    assert found.error < 1e-6
    assert chain.output("z", -normal * 2, 4).error > 0.5


def test_a_tolerance_above_the_largest_element_is_of_no_use() -> None:
    """The difference of two numbers that are a rounding apart may be anything."""
    x = {"x": np.array([1.0], np.float32), "y": np.array([1.0 + 2.0**-23], np.float32)}
    chain, one = Chain(x, Limits()), float32(1)
    powers = {f"exp {name}": np.exp(values) for name, values in x.items()}
    for name, values in x.items():
        chain.add(f"Exp {name}", named("Exp", {name: values}, f"exp {name}", one), {f"exp {name}": np.exp(values)})
    chain.add("Sub", named("Sub", powers, "z", float32(1)), {"z": powers["exp x"] - powers["exp y"]})
    found = chain.output("z", powers["exp x"] - powers["exp y"], 3)
    assert found.reason is not None
    assert found.reason.startswith("the carried tolerance is too wide to be of use: ")


def test_a_tensor_that_no_node_gave_is_named() -> None:
    chain, x = layers(1)
    chain.add("Neg 1", named("Neg", {"y": x}, "z", float32(4, 16)), {"z": -x})
    assert chain.output("z", -x, 3).reason == "Neg 1 is not computed: it reads y, which no node gave"


def test_tensors_that_nobody_reads_are_let_go() -> None:
    chain, _ = layers(2)
    chain.drop(["x0", "y0", "none"])
    assert {"x0", "y0"} & chain.held.keys() == set()


def test_an_output_that_is_the_implementations_own_is_not_judged() -> None:
    whole, floats = np.arange(3), random(3)
    chain = Chain({"x": random(3)}, Limits())
    chain.take("NonZero", ["x"], {"y": whole}, "it has none")
    chain.take("Odd", ["x"], {"z": floats}, "it has none")
    chain.take("Fixed", [], {"w": floats}, "it has none")
    assert chain.output("y", whole, 1).reason == "NonZero is not computed: it has none"
    assert chain.output("z", floats, 1).reason == "Odd is not computed: it has none"
    assert chain.output("w", floats, 1).reason == "Fixed is not computed: it has none"


def test_tensors_without_elements_are_exact() -> None:
    chain = Chain({"x": random(3)}, Limits())
    chain.give_up({"lost": random(3)}, "why")
    chain.take("Slice", ["lost"], {"y": np.zeros((0, 3), np.float32)}, "there is nothing to compute")
    assert (chain.lost.keys(), chain.taken) == ({"lost"}, {})
    assert chain.held["y"].size == 0


# ---- nodes taken into a chain: which arrays it knows, and which nodes give sizes alone


def test_arrays_of_types_that_directml_has_are_known() -> None:
    x = np.zeros(2, np.float32)
    assert known_arrays({"x": x, "text": np.array(["a"]), "list": [x]}).keys() == {"x"}


def test_a_node_that_is_not_computed_is_exact_if_it_gives_sizes() -> None:
    made = one_input([node("Shape", "x", "s", "shape"), node("Det", "x", "y", "det")], [2, 2])
    shape, det = node_cases(made, "m", {})
    model = Loaded(made, {}, (shape, det), {})
    x = np.ones((2, 2), np.float32)
    chain = Chain({"x": x}, Limits())
    assert (is_of_sizes(shape), is_of_sizes(det)) == (True, False)
    follow_node(chain, shape, Unjudged("not-mapped", "so"), {"s": np.array([2, 2])}, model)
    follow_node(chain, det, Unjudged("not-mapped", "so"), {"y": np.zeros((), np.float32)}, model)
    assert (chain.lost, chain.taken) == ({"y": "det is not computed: so"}, {})


def test_the_shares_are_of_squared_relative_errors() -> None:
    chain = Chain({}, Limits())
    y = np.array([3.0, 4.0], np.float32)  # 25 in all
    for name, squares in (("first", 0.25), ("second", 0.75), ("third", 0.0)):
        chain.note(name, {"y": OutputResult(2, squares=squares)}, {"y": y})
    assert chain.shares() == (NodeShare("second", pytest.approx(0.75)), NodeShare("first", pytest.approx(0.25)))


@pytest.mark.parametrize("fault", [1.0, 1 + 2.0**-9])
def test_infinities_that_hide_elements_have_no_error(fault: float) -> None:
    x, w, hidden = random(4, 4), random(4, 4), np.triu(np.full((4, 4), -np.inf, np.float32), 1)
    scores = x @ w
    left = scores + hidden
    parts = np.exp(left - left.max(axis=1, keepdims=True))
    shares = (parts / parts.sum(axis=1, keepdims=True) * np.float32(fault)).astype(np.float32)
    chain = Chain({"x": x, "w": w, "hidden": hidden}, Limits())
    for operator, inputs, name, output in (
        ("MatMul", {"x": x, "w": w}, "scores", scores),
        ("Add", {"scores": scores, "hidden": hidden}, "left", left),
        ("Softmax", {"left": left}, "shares", shares),
    ):
        chain.add(name, named(operator, inputs, name, float32(4, 4)), {name: output})
    hides = chain.output("left", left, 2)
    assert (hides.reason, hides.verdict.findings) == (None, ())
    shows = left.copy()
    shows[0, 3] = -1e30
    assert chain.output("left", shows, 2).verdict.findings
    found = chain.output("shares", shares, 3)
    assert found.reason is None
    assert bool(found.verdict.findings) is (fault != 1)


@pytest.mark.parametrize(("operator", "number"), [("ReduceSum", 0), ("ReduceProd", 1)])
def test_what_is_made_of_no_elements_is_known(operator: str, number: float) -> None:
    made = one_input([node(operator, "x", "y", "reduce")], [2, 0])
    (reduce,) = node_cases(made, "m", {})
    for is_right in (True, False):
        chain = Chain({"x": np.zeros((2, 0), np.float32)}, Limits())
        y = np.full(2, number if is_right else 3, np.float32)
        follow_node(chain, reduce, Unjudged("runs-elsewhere", "so"), {"y": y}, Loaded(made, {}, (reduce,), {}))
        found = chain.output("y", y, 1)
        assert (found.reason, found.verdict.findings == ()) == (None, is_right)


@pytest.mark.parametrize("operator", ["ScatterND", "ScatterElements"])
def test_where_nothing_is_scattered_the_elements_and_their_errors_stay(operator: str) -> None:
    made = one_input([node(operator, "x places updates", "y", "scatter")], [2, 3])
    (scatter,) = node_cases(made, "m", {})
    x = random(2, 3)
    for is_right in (True, False):
        chain = Chain({"places": np.zeros((0, 1), np.int64), "updates": np.zeros((0, 3), np.float32)}, Limits())
        chain.held["x"] = off_by("FLOAT32", x.reshape(-1), np.full(6, 1e-3))
        y = x + np.float32(9e-4 if is_right else 2e-3)
        follow_node(chain, scatter, Unjudged("runs-elsewhere", "so"), {"y": y}, Loaded(made, {}, (scatter,), {}))
        found = chain.output("y", y, 1)
        assert (found.reason, found.verdict.findings == ()) == (None, is_right)
    chain.drop(["x"])
    follow_node(chain, scatter, Unjudged("runs-elsewhere", "so"), {"y": y}, Loaded(made, {}, (scatter,), {}))
    assert chain.output("y", y, 1).reason == "scatter is not computed: so"


# ---- elements of which some have no bound: T5 has buckets of distances, whose logarithms are cut to whole numbers


def follow(given: dict[str, Array], *rows: tuple[str, str, str, Array]) -> Chain:
    """Return a chain through nodes: operator, inputs, output, and what an implementation gives for it."""
    chain, arrays = Chain(given, Limits()), dict(given)
    for operator, inputs, name, output in rows:
        kinds = {"to": helper.np_dtype_to_tensor_dtype(output.dtype)} if operator == "Cast" else {}
        reads = {each: arrays[each] for each in inputs.split()}
        chain.add(name, named(operator, reads, name, TensorRef.of(output), **kinds), {name: output})
        arrays[name] = output
    return chain


GIVEN: dict[str, Array] = {
    "distance": np.array([0, 1, 2, 3, 4], np.int64),
    "near": np.array([True, True, True, True, False]),
    "two": np.full(5, np.log(2), np.float32),
    "eight": np.full(5, 8, np.int64),
}


def buckets(fault: int = 0) -> tuple[Chain, Array]:
    """Return a chain and its result: near distances, and one of a logarithm, which is 2 but for errors."""
    scaled = GIVEN["distance"].astype(np.float32)
    with np.errstate(divide="ignore"):
        logs = np.log(scaled)
    halves = logs / GIVEN["two"]
    cut = np.trunc(np.maximum(halves, -9)).astype(np.int64)
    places = np.where(GIVEN["near"], GIVEN["distance"], cut + 8)
    places[1] += fault
    chain = follow(
        GIVEN,
        ("Cast", "distance", "scaled", scaled),
        ("Log", "scaled", "logs", logs),
        ("Div", "logs two", "halves", halves),
        ("Cast", "halves", "cut", cut),
        ("Cast", "cut", "short", cut.astype(np.int16)),
        ("Add", "cut eight", "far", cut + 8),
        ("Where", "near distance far", "places", places),
    )
    return chain, places


@pytest.mark.parametrize("fault", [0, 1])
def test_elements_that_a_condition_chooses_keep_their_own_errors(fault: int) -> None:
    chain, places = buckets(fault)
    held = chain.held["places"]
    assert isinstance(held, Carried)
    assert held.radius is not None
    assert held.radius.tolist() == [0, 0, 0, 0, pytest.approx(0.5, abs=1e-6)]
    found = chain.output("places", places, 6)
    assert (found.reason, bool(found.verdict.findings)) == (None, bool(fault))


def test_only_whole_numbers_that_are_not_certain_lose_their_bound() -> None:
    """The logarithms of 1 and 3 are cut to 0 and 1; those of 2 and 4 are whole, and Log may round them down."""
    held = buckets()[0].held["short"]
    assert isinstance(held, Carried)
    assert held.radius is not None
    assert np.isinf(held.radius).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize("fault", [0, 1])
def test_chosen_floats_are_not_rounded(fault: int) -> None:
    """A whole number stays one beside a number with errors: it is certain when it is cut."""
    given = {"x": random(2), "factor": random(2), "near": np.array([True, False]), "whole": np.full(2, -2, np.float32)}
    product = given["x"] * given["factor"]
    chosen = np.where(given["near"], given["whole"], product)
    cut = np.trunc(chosen).astype(np.int64) - fault
    chain = follow(
        given,
        ("Mul", "x factor", "product", product),
        ("Where", "near whole product", "chosen", chosen),
        ("Cast", "chosen", "cut", cut),
    )
    found = chain.output("cut", cut, 3)
    assert (found.reason, bool(found.verdict.findings)) == (None, bool(fault))


def test_a_tensor_without_bounds_is_left_out_by_a_condition() -> None:
    far, places = GIVEN["distance"] + 7, np.array([0, 1, 2, 3, 11], np.int64)
    chain = Chain(GIVEN, Limits())
    chain.give_up({"far": far}, "why")
    reads = {"near": GIVEN["near"], "distance": GIVEN["distance"], "far": far}
    chain.add("choose", named("Where", reads, "places", TensorRef.of(places)), {"places": places})
    held = chain.held["places"]
    assert isinstance(held, Carried)
    assert held.radius is not None
    assert np.isinf(held.radius).tolist() == [False, False, False, False, True]


def test_what_follows_from_constants_keeps_the_bounds_that_it_has() -> None:
    x = np.array([0, 4], np.float32)
    with np.errstate(divide="ignore"):
        logs = np.log(x)
    cut = np.array([-(2**63), 1])
    chain = Chain({}, Limits())
    for operator, reads, name, output, more in (
        ("Log", {"x": x}, "logs", logs, {}),
        ("Cast", {"logs": logs}, "cut", cut, {"to": helper.TensorProto.INT64}),
        ("Add", {"cut": cut, "eight": np.array([8, 8])}, "far", cut + 8, {}),
    ):
        made = named(operator, reads, name, TensorRef.of(output), **more)
        constants = {each: array.view(np.uint8) for each, array in reads.items() if each in ("x", "eight")}
        chain.add(name, made, {name: output}, constants)
    held = chain.held["far"]
    assert isinstance(held, Carried)
    assert held.radius is not None
    assert np.isinf(held.radius).tolist() == [True, False]
