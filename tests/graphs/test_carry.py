"""Errors carried from step to step: nothing that a right implementation may give lies outside, and little besides."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from five_operators import tensor
from node_graphs import float32, graph, node_of
from shipped import cases_of

from dmlcheck.cases.prepare import Prepared, prepare
from dmlcheck.descs.read import read_desc
from dmlcheck.graphs import carry
from dmlcheck.graphs.carry import carried
from dmlcheck.graphs.records import Graph, Step
from dmlcheck.graphs.tensor_bounds import Carried
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import OnnxNode
from dmlcheck.reference import engine
from dmlcheck.reference.bindings import row
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.reference.tiling import plan
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.layouts import laid_out, to_bytes

Array = np.ndarray[Any, Any]
MOST = 3000  # elements of a case that is tried
RANDOM = np.random.default_rng(11)
OWN = "com.microsoft."


# ---- every operator


def drawn(operator: str) -> Iterator[Prepared]:
    """Yield the first cases of few elements of an operator, and the first of each enumeration value."""
    spec, found, seen = load_spec(operator), 0, set()
    names = [name for name, field in spec.fields.items() if field.enum is not None]
    for case in cases_of(operator):
        if case.is_negative or case.is_plain_desc:
            continue
        chosen = tuple(case.desc.get(name) for name in names)
        if found >= 6 and chosen in seen:
            continue
        prepared = prepare(case)
        desc = prepared.desc
        if desc is None or prepared.findings or prepared.excess or not prepared.inputs:
            continue
        if sum(part.tensor.element_count for part in desc.tensors()) <= MOST:
            found += 1
            seen.add(chosen)
            yield prepared


def with_errors(prepared: Prepared) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the inputs of a case with errors in those of floats, by label, and others within these errors."""
    desc = prepared.desc
    assert desc is not None
    given: dict[str, Any] = {}
    moved: dict[str, Any] = {}
    for part, values in desc.inputs_with(prepared.inputs):
        data_type = part.tensor.data_type
        if DATA_TYPES[data_type].kind != "float":
            given[part.label], moved[part.label] = to_bytes(part.tensor, values), values
            continue
        flat = laid_out(part.tensor, values).astype(np.float64)
        radius = np.where(np.isfinite(flat), np.abs(flat) * 2.0**-8 + 2.0**-8, 0.0)
        given[part.label] = Carried(data_type, flat, radius, radius)
        spread = radius.reshape(-1)[: values.size].reshape(values.shape) if part.tensor.strides is None else 2.0**-9
        with np.errstate(over="ignore"):  # errors of sums are as of independent ones: they are not all at their ends
            moved[part.label] = (values + spread * RANDOM.uniform(-0.4, 0.4, values.shape)).astype(values.dtype)
    return given, moved


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_inputs_within_their_errors_give_outputs_within_theirs(operator: str) -> None:
    for prepared in drawn(operator):
        desc = prepared.desc
        assert desc is not None
        given, moved = with_errors(prepared)
        labels = {part.label: part.label for part in desc.tensors()}
        step = Step("", desc, {p.label: labels[p.label] for p in desc.tensors(INPUT)}, labels)
        by_field = {field.name: [moved[part.label] for part in desc.parts[field.name]] for field in desc.spec.inputs}
        inputs = {name: each[0] if desc.spec.fields[name].type == "TENSOR_DESC" else each
                  for name, each in by_field.items() if each}  # fmt: skip
        try:
            bound, found = carried([step], given), engine.evaluate(desc, inputs)
        except TooMuchWork:
            continue
        for part in desc.tensors(OUTPUT):
            made, values = bound[part.label], laid_out(part.tensor, found[part.label].values)
            if made.radius is None:
                continue
            with np.errstate(all="ignore"):
                off = np.abs(values.astype(np.float64) - made.value)
                room = np.where(np.isnan(made.radius), np.inf, made.radius) * (1 + 1e-9)
            wrong = (off > room) & np.isfinite(values.astype(np.float64)) & np.isfinite(made.value)
            if found[part.label].undefined is None and part.tensor.strides is None:
                assert not wrong.any(), (operator, part.label, off[wrong][:3], room[wrong][:3])


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_errors_in_whole_numbers_are_no_obstacle(operator: str) -> None:
    """What takes no errors in its indices, shapes or quantized numbers has no bound; nothing raises."""
    for prepared in drawn(operator):
        desc = prepared.desc
        assert desc is not None
        given, is_inexact = dict(with_errors(prepared)[0]), False
        for part, values in desc.inputs_with(prepared.inputs):
            if DATA_TYPES[part.tensor.data_type].kind != "float":
                flat = laid_out(part.tensor, values).astype(np.float64)
                radius = np.where(np.arange(flat.size) % 3 == 0, 1.0, 0.0)
                given[part.label] = Carried(part.tensor.data_type, flat, radius, radius)
                is_inexact = True
        if not is_inexact:
            continue
        labels = {part.label: part.label for part in desc.tensors()}
        step = Step("", desc, {part.label: part.label for part in desc.tensors(INPUT)}, labels)
        try:
            found = carried([step], given)
        except TooMuchWork:
            continue
        for part in desc.tensors(OUTPUT):
            made = found[part.label]
            assert made.value.size >= part.tensor.element_count
            assert made.radius is None or not (made.radius < 0).any()


# ---- nodes of several steps


def data_of(node: OnnxNode, made: Graph) -> dict[str, Any]:
    data: dict[str, Any] = dict(made.constants)
    for index, x in enumerate(node.inputs):
        if x is not None:
            assert x.buffer.bytes is not None
            data[f"input {index}"] = x.buffer.bytes
    return data


def carried_of(node: OnnxNode) -> Carried:
    made = graph(node)
    return carried(made.steps, data_of(node, made))["output 0"]


def random(*sizes: int) -> Array:
    return RANDOM.standard_normal(sizes).astype(np.float32)


def share(found: Array, bound: Carried) -> float:
    assert bound.radius is not None
    return float((np.abs(found.reshape(-1).astype(np.float64) - bound.value) / bound.radius).max())


def test_a_sum_that_is_normalized_may_be_off_by_its_roundings_and_not_by_2_to_the_minus_9() -> None:
    x, skip, bias = random(2, 5, 96), random(2, 5, 96), random(96)
    scale, shift = random(96), random(96)
    bound = carried_of(node_of(f"{OWN}SkipLayerNormalization", [x, skip, scale, shift, bias], float32(2, 5, 96)))
    summed = x + skip + bias  # all in FLOAT32
    centered = summed - summed.mean(-1, keepdims=True)
    plain = centered / np.sqrt((centered * centered).mean(-1, keepdims=True) + np.float32(1e-12)) * scale + shift
    assert share(plain, bound) < 1
    assert share(plain * np.float32(1 + 2.0**-9), bound) > 1


def test_weights_of_four_bits_are_dequantized_and_multiplied() -> None:
    x, packed = random(3, 64), RANDOM.integers(0, 256, (8, 2, 16), np.uint8)
    scales = RANDOM.uniform(0.01, 0.1, 16).astype(np.float32)
    more = {"N": 8, "K": 64, "bits": 4, "block_size": 32}
    bound = carried_of(node_of(f"{OWN}MatMulNBits", [x, packed, scales], float32(3, 8), **more))
    numbers = np.stack((packed & 15, packed >> 4), -1).reshape(8, 2, 32).astype(np.float32) - 8
    weights = (numbers * scales.reshape(8, 2, 1)).reshape(8, 64)
    assert share(x @ weights.T, bound) < 1
    assert share(x @ weights.T * np.float32(1 + 2.0**-8), bound) > 1


def test_a_quantized_sigmoid_may_round_either_way_only_beside_a_half() -> None:
    x = np.arange(256, dtype=np.uint8)
    numbers = [np.array(v, t) for v, t in ((0.05, "f4"), (128, "u1"), (1 / 256, "f4"), (0, "u1"))]
    bound = carried_of(node_of(f"{OWN}QLinearSigmoid", [x, *numbers], TensorRef("UINT8", (256,))))
    exact = 256 / (1 + np.exp(-np.float64(np.float32(0.05)) * (x.astype(np.float64) - 128)))
    right = np.minimum(np.rint(exact), 255)
    radius = np.zeros(256) if bound.radius is None else bound.radius
    assert (np.abs(right - bound.value) <= radius).all()
    assert radius.max() <= 0.5
    assert (np.abs(exact - np.floor(exact) - 0.5)[radius > 0] < 1e-4).all()


def test_integers_that_cancel_are_within_the_likely_error_though_scaled_ones_do_not_cancel() -> None:
    integers, column = np.array([[128, 51, 7, -127, -59]], np.float32), np.full((5, 1), 111, np.int8)
    x = integers * np.float32(0.0149)
    node = node_of(f"{OWN}DynamicQuantizeMatMul", [x, column, np.array([0.0046], np.float32)], float32(1, 1))
    bound = carried_of(node)
    assert bound.value != 0  # the middle of 0 and of what is left of the scaled ones
    assert bound.likely is not None
    assert abs(bound.value) <= bound.likely


def test_the_roundings_of_a_step_are_computed_once_however_its_errors_come(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def counted(*given: Any, **options: Any) -> Any:
        asked.append(bool(options.get("without_roundings")))
        return bounds(*given, **options)

    monkeypatch.setattr(carry, "bounds", counted)
    node = node_of("Conv", [np.array([[[3, 4]]], np.float32), np.ones((1, 1, 2), np.float32)], float32(1, 1, 1))
    made, error = graph(node), np.full(2, 1 / 32)
    given = Carried("FLOAT32", np.array([3.0, 4.0]), error, error, 0, error / 2, error / 2)
    carried(made.steps, {**data_of(node, made), "input 0": given}, wants_likely=False)
    assert asked.count(False) == 2  # with errors that are independent, and that are not


def test_a_filter_with_errors_adds_those_of_its_products() -> None:
    """2 * 3 + 1 * 4 with errors of 1/64 in the filter and 1/32 in the input: the squares of the products add up."""
    sizes = {"InputTensor": [1, 1, 1, 2], "FilterTensor": [1, 1, 1, 2], "OutputTensor": [1, 1, 1, 1]}
    window = {name: [0, 0] for name in ("StartPadding", "EndPadding", "OutputPadding")} | {"Strides": [1, 1]}
    fields = {name: {"DataType": "FLOAT32", "Sizes": size} for name, size in sizes.items()} | window
    desc = read_desc("CONVOLUTION", {**fields, "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
                                     "Dilations": [1, 1], "GroupCount": 1}).desc  # fmt: skip
    assert desc is not None
    given = {
        "InputTensor": Carried("FLOAT32", np.array([3.0, 4.0]), *[np.full(2, 1 / 32)] * 2),
        "FilterTensor": Carried("FLOAT32", np.array([2.0, 1.0]), *[np.full(2, 1 / 64)] * 2),
    }
    step = Step("", desc, {name: name for name in given}, {"OutputTensor": "OutputTensor"})
    made = carried([step], given)["OutputTensor"]
    squares = ((2 + 1 / 64) ** 2 + (1 + 1 / 64) ** 2) / 32**2, (3**2 + 4**2) / 64**2
    assert made.radius is not None
    assert (made.value[0], made.radius[0]) == (10, pytest.approx(sum(squares) ** 0.5, rel=1e-4))


def test_the_largest_of_four_is_exact() -> None:
    rows = [random(7) for _ in range(4)]
    bound = carried_of(node_of("Max", rows, float32(7)))
    assert bound.radius is None
    assert bound.value.tolist() == np.max(rows, 0).tolist()


def test_elements_of_float16_between_steps_are_rounded_to_it() -> None:
    x = random(50).astype(np.float16)
    made = carried_of(node_of(f"{OWN}QuickGelu", [x], TensorRef("FLOAT16", (50,)), alpha=1.0))
    assert made.radius is not None
    assert 2.0**-12 < np.median(made.radius / np.abs(made.value)) < 2.0**-9


def step(operator: str, number: int, read: str, size: int, made: str, count: int, **fields: Any) -> Step:
    """Return a step from the tensor x of a number to the next one."""
    tensors = {"InputTensor": tensor(read, size), "OutputTensor": tensor(made, count)}
    desc, _ = read_desc(operator, {**tensors, **fields})
    assert desc is not None
    return Step("", desc, {"InputTensor": f"x{number}"}, {"OutputTensor": f"x{number + 1}"})


def test_a_mean_of_numbers_that_are_rounded_toward_0_is_within_the_bound_and_so_is_one_of_the_nearest() -> None:
    # All are 3/4 of a unit of FLOAT16 above 1: rounded toward 0 they are 1, and to the nearest 1 + 2^-10.
    x = np.full(64, 1 + 0.75 * 2.0**-10, np.float32)
    mean = {"Function": "AVERAGE", "Axes": [0]}
    steps = [
        step("CAST", 0, "FLOAT32", 64, "FLOAT16", 64),
        step("CAST", 1, "FLOAT16", 64, "FLOAT32", 64),
        step("REDUCE", 2, "FLOAT32", 64, "FLOAT32", 1, **mean),
    ]
    made = carried(steps, {"x0": x.view(np.uint8)}, ["x3"])["x3"]
    assert made.radius is not None
    assert made.value[0] - made.radius[0] <= 1
    assert made.value[0] + made.radius[0] >= 1 + 2.0**-10
    assert made.radius[0] < 2.0**-10


def test_ten_layers_of_products_keep_a_bound_that_is_of_use() -> None:
    bound: Any = None
    x, plain = random(4, 32), np.zeros(0)
    data: dict[str, Any] = {}
    steps = []
    for layer in range(10):
        node = node_of("MatMul", [x if layer == 0 else plain, random(32, 32) / 6], float32(4, 32))
        made = graph(node)
        weights = data_of(node, made)
        names = {"input 0": f"x{layer}", "input 1": f"w{layer}", "output 0": f"x{layer + 1}"}
        data[f"w{layer}"] = weights["input 1"]
        data.setdefault("x0", weights["input 0"])
        for step in made.steps:
            inputs, outputs = ({k: names[v] for k, v in side.items()} for side in (step.inputs, step.outputs))
            steps.append(step._replace(inputs=inputs, outputs=outputs))
        assert node.inputs[1] is not None
        plain = (x if layer == 0 else plain) @ node.inputs[1].values
    bound = carried(steps, data)["x10"]
    assert np.abs(plain.reshape(-1) - bound.value).max() < bound.likely.max()
    assert bound.radius.max() / np.abs(bound.value).max() < 1e-2
    assert bound.likely.max() < bound.radius.max() / 3


def test_tensors_between_steps_are_let_go_after_their_last_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, data = chain_of_sums(6)
    seen: list[int] = []
    tensors: list[weakref.ref[Any]] = []

    def watched(*given: Any, **more: Any) -> dict[str, Carried]:
        seen.append(sum(tensor() is not None for tensor in tensors))
        found = of_one_step(*given, **more)
        tensors.extend(weakref.ref(made.value) for made in found.values())
        return found

    of_one_step = carry._carried
    monkeypatch.setattr(carry, "_carried", watched)
    found = carried(steps, data, ["x6"])
    assert list(found) == ["x6"]
    assert max(seen) == 1
    assert set(carried(steps, data)) == {f"x{number}" for number in range(1, 7)}


def chain_of_sums(count: int) -> tuple[list[Step], dict[str, Any]]:
    """Return steps x1 = x0 + x0, x2 = x1 + x1 and so on."""
    x = random(8)
    node = node_of("Add", [x, x], float32(8))
    (step,) = graph(node).steps
    data = {"x0": data_of(node, graph(node))["input 0"]}
    steps = [
        step._replace(
            inputs=dict.fromkeys(step.inputs, f"x{number}"), outputs=dict.fromkeys(step.outputs, f"x{number + 1}")
        )
        for number in range(count)
    ]
    return steps, data


def test_what_is_computed_of_undefined_elements_has_no_bound() -> None:
    """ACOS of 2 is NaN, and defined; the square root of -1 too: an undefined element comes from an index outside."""
    made = Carried("FLOAT32", np.array([1.0, 2.0]), np.array([0.0, np.inf]), np.array([0.0, np.inf]))
    node = node_of("Add", [random(2), random(2)], float32(2))
    steps = graph(node)
    bound = carried(steps.steps, {**data_of(node, steps), "input 0": made})["output 0"]
    assert bound.radius is not None
    assert np.isinf(bound.radius).tolist() == [False, True]


def test_what_no_kernel_takes_errors_in_has_no_bound() -> None:
    x = random(4, 3)
    node = node_of("Gather", [x, np.array([0, 2])], float32(2, 3))
    steps = graph(node)
    places = Carried("INT64", np.array([0.0, 2.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    bound = carried(steps.steps, {**data_of(node, steps), "input 1": places})["output 0"]
    assert bound.radius is not None
    assert np.isinf(bound.radius).all()
    assert bound.value.tolist() == x[[0, 2]].reshape(-1).astype(np.float64).tolist()


@pytest.mark.parametrize("kind", [TypeError, AttributeError, IndexError, ValueError])
def test_an_exception_of_a_kernel_is_not_taken_for_the_lack_of_a_bound(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: Any, **__: Any) -> Any:
        raise kind("a fault of the kernel")

    node = node_of("Erf", [random(3)], float32(3))
    steps = graph(node)
    made = Carried("FLOAT32", np.ones(3), np.full(3, 0.1), np.full(3, 0.1))
    bound = row("DML_OPERATOR_ELEMENT_WISE_ERF")
    monkeypatch.setattr(plan, "row", lambda *_, **__: bound._replace(function=faulty))
    with pytest.raises(kind, match="a fault of the kernel"):
        carried(steps.steps, {"input 0": made})


def test_sorted_whole_numbers_with_errors_move_no_more_than_these() -> None:
    x, kinds = np.array([5, 1, 3], np.int32), (TensorRef("INT32", (2,)), TensorRef("INT64", (2,)))
    steps = graph(node_of("TopK", [x, np.array([2])], *kinds, axis=0))
    errors = np.array([1.0, 0.0, 2.0])
    bound = carried(steps.steps, {"input 0": Carried("INT32", x.astype(np.float64), errors, errors)})["output 0"]
    assert bound.radius is not None
    assert bound.radius.tolist() == [2, 2]


def bound_of(node: OnnxNode, **given: Carried) -> list[bool]:
    """Return which elements of a node's output have a bound; the inputs that are given are `a` and `b`."""
    steps = graph(node)
    inputs = {f"input {'ab'.index(name)}": tensor for name, tensor in given.items()}
    made = carried(steps.steps, {**data_of(node, steps), **inputs})["output 0"]
    return [True] * made.value.size if made.radius is None else np.isfinite(made.radius).tolist()


def float16(values: list[float], radius: float) -> Carried:
    return Carried("FLOAT16", np.array(values), np.full(len(values), radius), np.full(len(values), radius))


@pytest.mark.parametrize(
    ("operator", "radius", "certain"),
    [
        ("ArgMax", 0.1, [True, False, False]),
        ("ArgMax", 0.04, [True, True, False]),
        ("ArgMin", 0.1, [True, True, False]),
        ("ArgMin", 0.5, [False, True, False]),  # 1.5 may be both in the first
    ],
)
def test_a_place_that_errors_cannot_change_is_exact(operator: str, radius: float, certain: list[bool]) -> None:
    x = float16([1, 3, 2, 1, 3, 2.9, 2, 2, 2], radius)
    node = node_of(operator, [np.zeros((3, 3), np.float16)], TensorRef("INT64", (3,)), axis=1, keepdims=0)
    assert bound_of(node, a=x) == certain


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_no_place_is_exact_where_there_is_nan(operator: str) -> None:
    node = node_of(operator, [np.zeros((2, 3), np.float16)], TensorRef("INT64", (2,)), axis=1, keepdims=0)
    assert bound_of(node, a=float16([1, np.nan, 3, 1, 2, 3], 0.1)) == [False, True]


@pytest.mark.parametrize(
    ("is_largest", "radius", "certain"),
    [(1, 0.1, [True, False, False]), (0, 0.1, [True, False, False]), (1, 0.04, [True, True, True])],
)
def test_the_index_of_a_rank_that_errors_cannot_change_is_exact(
    is_largest: int, radius: float, certain: list[bool]
) -> None:
    kinds = (TensorRef("FLOAT16", (3,)), TensorRef("INT64", (3,)))
    node = node_of("TopK", [np.zeros(4, np.float16), np.array([3])], *kinds, axis=0, largest=is_largest)
    steps = graph(node)
    made = carried(steps.steps, {"input 0": float16([5, 1, 3, 3.1], radius)})["output 1"]
    assert np.isfinite(np.zeros(3) if made.radius is None else made.radius).tolist() == certain


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin", "TopK"])
def test_no_errors_within_the_radii_change_an_exact_index(operator: str) -> None:
    """The right indices come from NumPy, for errors at random and at the ends of their ranges."""
    x, radius = RANDOM.integers(0, 40, (50, 6)).astype(np.float64), RANDOM.uniform(0, 1.5, (50, 6))
    given, ties = Carried("FLOAT32", x.ravel(), radius.ravel(), radius.ravel()), np.zeros((50, 6), np.float32)
    if operator == "TopK":
        kinds = (float32(50, 6), TensorRef("INT64", (50, 6)))
        node = node_of("TopK", [ties, np.array([6])], *kinds, axis=1)
    else:
        node = node_of(operator, [ties], TensorRef("INT64", (50,)), axis=1, keepdims=0)
    made = carried(graph(node).steps, {"input 0": given})["output 1" if operator == "TopK" else "output 0"]
    assert made.radius is not None
    is_certain = np.isfinite(made.radius)
    assert 0.2 < is_certain.mean() < 1
    for _ in range(200):
        moved = x + radius * RANDOM.choice([-1, 0, 1, RANDOM.uniform(-1, 1)], x.shape)
        right = {"ArgMax": moved.argmax(1), "ArgMin": moved.argmin(1), "TopK": (-moved).argsort(1, kind="stable")}
        assert (right[operator].ravel() == made.value)[is_certain].all()


def test_remainders_that_may_jump_have_no_bound() -> None:
    """Of x / x, rounded, the whole part is 1 or 0, so the remainder is 0 or x: in all elements, or in none."""
    x = np.array([0.7, -1.3, 2.6], np.float32)
    assert bound_of(node_of("Mod", [x, x], float32(3), fmod=1)) == [False] * 3
    assert bound_of(node_of("Mod", [x, np.float32([0.5, 1, 0.6])], float32(3), fmod=1)) == [True] * 3


@pytest.mark.parametrize(
    ("operator", "expected"), [("Floor", [0, 0.5, 0, 20]), ("Ceil", [0, 0.5, 0, 20]), ("Round", [0, 0, 0.5, 20])]
)
def test_what_may_be_one_of_two_whole_numbers_is_between_them(operator: str, expected: list[float]) -> None:
    """The errors are 0.001, of 900 they are 20: more than a jump."""
    errors = np.array([1e-3, 1e-3, 1e-3, 20])
    made = Carried("FLOAT32", np.array([0.3, 7, 2.5, 900]), errors, errors)
    steps = graph(node_of(operator, [random(4)], float32(4)))
    found = carried(steps.steps, {"input 0": made})["output 0"]
    assert found.radius is not None
    assert found.shared is not None
    assert found.radius.tolist() == pytest.approx(expected, abs=2e-4)
    assert found.value[:3].tolist() == {"Floor": [0, 6.5, 2], "Ceil": [1, 7.5, 3], "Round": [0, 7, 2.5]}[operator]
    assert found.shared.tolist() == found.radius.tolist()


def test_what_overflows_between_steps_may_be_infinite_or_stay_a_number() -> None:
    """121,539 is infinite in FLOAT16, so half of it is 60,769 or infinite; its sigmoid is 1 either way."""
    made, half, kind = float16([121_539, 65_504, 1], 1), np.full(3, 0.5, np.float16), TensorRef("FLOAT16", (3,))
    x = np.ones(3, np.float16)
    assert bound_of(node_of("Mul", [x, half], kind), a=made) == [False, True, True]
    assert bound_of(node_of("Sigmoid", [x], kind), a=made) == [True] * 3


def test_functions_with_limits_do_not_bound_what_may_be_nan() -> None:
    made = float16([0.5, 0.5], np.inf)
    made = made._replace(radius=np.array([np.inf, 0.25]), likely=np.array([np.inf, 0.25]))
    kind = TensorRef("FLOAT16", (2,))
    for operator in ("HardSigmoid", "Sigmoid", "Tanh", "Softsign", "Erf", "Atan"):
        more = {"alpha": 0.25, "beta": 0.5} if operator == "HardSigmoid" else {}
        assert bound_of(node_of(operator, [np.ones(2, np.float16)], kind, **more), a=made) == [False, True], operator


def with_radius(node: OnnxNode, values: Array, radius: Array) -> Carried:
    """Return the bounds of a node of one input, which may be off by a radius."""
    made = graph(node)
    flat, error = values.reshape(-1).astype(np.float64), radius.reshape(-1).astype(np.float64)
    return carried(made.steps, {**data_of(node, made), "input 0": Carried("FLOAT32", flat, error, error)})["output 0"]


def test_a_mask_that_is_a_product_of_ones_is_exact() -> None:
    bound = carried_of(node_of("Mul", [np.ones((2, 3), np.float32), np.ones((2, 1), np.float32)], float32(2, 3)))
    assert bound.radius is None


@pytest.mark.parametrize("radius", [1e-4, 0.1, 5.0])
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_shares_reach_from_the_least_to_the_largest_and_no_further(operator: str, radius: float) -> None:
    x, errors = 3 * random(4, 6), RANDOM.uniform(0, radius, (4, 6))
    bound = with_radius(node_of(operator, [x], float32(4, 6), axis=-1), x, errors)
    assert bound.radius is not None
    most = np.zeros((4, 6))
    for at in np.ndindex(4, 6):
        for sign in (1, -1):  # the largest, where its own exponent is and all others are the smallest, and the least
            moved = x[at[0]].astype(np.float64) - sign * errors[at[0]]
            moved[at[1]] += 2 * sign * errors[at]
            share = 1 / np.exp(moved - moved[at[1]]).sum()
            found = np.log(share) if operator == "LogSoftmax" else share
            most[at] = max(most[at], abs(found - bound.value.reshape(4, 6)[at]))
    room = bound.radius.reshape(4, 6)
    assert (room >= most).all()
    assert (room <= 1.02 * most + 1e-5).all()


@pytest.mark.parametrize(("least", "expected"), [(-np.inf, 0), (-3.4028235e38, 0), (-20, 1.03e-9)])
def test_a_share_that_is_masked_adds_nothing_to_the_errors_of_others(least: float, expected: float) -> None:
    x = np.array([[least, 0.0, 0.0]], np.float32)
    radius = np.where(np.isfinite(x), np.abs(x) * 2.0**-23 + 2.0**-10, 0.0)
    bound = with_radius(node_of("Softmax", [x], float32(1, 3), axis=-1), x, radius)
    assert bound.value[0] == pytest.approx(expected, rel=0.02)
    assert bound.radius is not None
    assert bound.radius[0] <= 2.0**-8 * expected + 1e-37
    assert bound.radius[1:] == pytest.approx([2.0**-11, 2.0**-11], rel=0.01)


def test_nothing_bounds_a_share_beside_one_that_may_be_anything_or_one_of_infinite_powers() -> None:
    x = np.array([[0, 1], [0, 1], [0, np.inf]], np.float32)
    radius = np.array([[0.5, np.inf], [0.5, 0.5], [0.5, 0]])
    bound = with_radius(node_of("Softmax", [x], float32(3, 2), axis=-1), x, radius)
    assert bound.radius is not None
    assert np.isfinite(bound.radius).tolist() == [False, False, True, True, False, False]


def test_a_sigmoid_of_wide_balls_is_between_its_ends() -> None:
    x, radius = np.array([-30, -3, 0, 1, 5], np.float32), np.array([2, 0.5, 0.01, 3, 100])
    bound = with_radius(node_of("Sigmoid", [x], float32(5)), x, radius)
    ends = [1 / (1 + np.exp(-(x + sign * radius))) for sign in (-1, 1)]
    most = np.max([np.abs(end - bound.value) for end in ends], axis=0)
    assert bound.radius is not None
    assert (bound.radius >= most).all()
    assert bound.radius[1:] == pytest.approx(most[1:], rel=1e-2)
    assert bound.radius[0] <= most[0] * 1.001


def test_errors_move_a_normalized_row_as_far_as_its_deviation_says() -> None:
    x, radius = random(3, 256), np.full((3, 256), 2.0**-10)
    node = node_of("LayerNormalization", [x, np.ones(256, np.float32)], float32(3, 256))
    bound = with_radius(node, x, radius)
    assert bound.radius is not None
    share = bound.radius.reshape(3, 256) * x.std(-1, keepdims=True) / 2.0**-10
    assert share.min() > 1
    assert share.max() < 1.6  # 1, an error of the mean of 1 / 16, and of the deviation, as much for each deviation of x


@pytest.mark.parametrize(
    ("kind", "sizes", "made_sizes"),
    [("MatMulInteger", ((2, 3), (3, 2)), (2, 2)), ("ConvInteger", ((1, 2, 3), (2, 2, 3)), (1, 2, 1))],
)
def test_integers_with_errors_move_the_sums_of_their_products(
    kind: str, sizes: tuple[tuple[int, ...], ...], made_sizes: tuple[int, ...]
) -> None:
    """A quantized number between two steps is one of two: the sums are those of either, and of nothing far away."""
    x, w = (np.arange(1, 7, dtype=np.uint8).reshape(sizes[0]), RANDOM.integers(-9, 9, sizes[1]).astype(np.int8))
    node = node_of(kind, [x, w], TensorRef("INT32", made_sizes))
    made = graph(node)
    flat, radius = x.reshape(-1).astype(np.float64), np.array([0.5, 0, 0, 0, 0, 0])
    given = {**data_of(node, made), "input 0": Carried("UINT8", flat + radius, radius, radius)}
    bound = carried(made.steps, given)["output 0"]
    assert bound.radius is not None
    for first in (1, 2):
        flat[0] = first
        by_hand = flat.reshape(2, 3) @ w if kind == "MatMulInteger" else w.reshape(2, 6) @ flat
        off = np.abs(by_hand.reshape(-1) - bound.value)
        assert (off <= bound.radius).all()
    assert (bound.radius <= 0.5 * 9 + 1e-3).all()
    assert kind == "ConvInteger" or (bound.radius[2:] < 1e-3).all()


def test_sums_that_int32_may_not_hold_have_no_bound() -> None:
    x, w = np.full((1, 2), 200, np.uint8), np.full((2, 1), 100, np.int8)
    node = node_of("MatMulInteger", [x, w], TensorRef("INT32", (1, 1)))
    made = graph(node)
    radius = np.array([2.0**25, 0.0])
    given = {**data_of(node, made), "input 0": Carried("UINT8", np.array([200.0, 200.0]), radius, radius)}
    bound = carried(made.steps, given)["output 0"]
    assert bound.radius is not None
    assert np.isinf(bound.radius).all()


@pytest.mark.parametrize(("order", "expected"), [("DCR", [0, 2, 4, 6, 1, 3, 5, 7]), ("CRD", [0, 1, 2, 3, 4, 5, 6, 7])])
def test_errors_go_where_blocks_of_channels_go(order: str, expected: list[int]) -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1)
    made = graph(node_of("DepthToSpace", [x], float32(1, 2, 2, 2), blocksize=2, mode=order))
    radius = np.arange(8) / 64
    found = carried(made.steps, {"input 0": Carried("FLOAT32", np.arange(8.0), radius, radius)})["output 0"]
    assert found.radius is not None
    assert found.value.tolist() == expected
    assert found.radius == pytest.approx(found.value / 64, abs=1e-5)


def test_a_normalization_over_channels_keeps_a_bound_at_their_ends() -> None:
    x = np.array([1, 2, 3], np.float32).reshape(1, 3, 1, 1)
    node = node_of("LRN", [x], float32(1, 3, 1, 1), size=3, alpha=3.0, beta=1.0, bias=1.0)
    made, radius = graph(node), np.array([0.01, 0.0, 0.0])
    found = carried(made.steps, {"input 0": Carried("FLOAT32", np.array([1.0, 2.0, 3.0]), radius, radius)})["output 0"]
    assert found.radius is not None
    by_hand = [1 / (1 + 1 + 4), 2 / (1 + 1 + 4 + 9), 3 / (1 + 4 + 9)]
    moved = [1.01 / (5 + 1.01**2), 2 / (14 + 1.01**2), 3 / 14]
    assert found.value == pytest.approx(by_hand, rel=1e-6)
    assert (np.abs(found.value - moved) <= found.radius).all()
    assert (found.radius < [0.02, 0.003, 1e-6]).all()


def test_what_pads_integers_with_errors_is_their_zero_point() -> None:
    x, w = np.array([[[5, 6]]], np.uint8), np.array([[[1, 2, 3]]], np.int8)
    node = node_of("ConvInteger", [x, w, np.array(4, np.uint8)], TensorRef("INT32", (1, 1, 2)), pads=[1, 1])
    made, radius = graph(node), np.array([0.5, 0.0])
    given = {**data_of(node, made), "input 0": Carried("UINT8", np.array([5.5, 6.0]), radius, radius)}
    found = carried(made.steps, given)["output 0"]
    assert found.radius is not None
    for first in (5, 6):  # less the zero point: 0, 1 or 2, 2, 0
        assert (np.abs([2 * (first - 4) + 3 * 2, 1 * (first - 4) + 2 * 2] - found.value) <= found.radius).all()
    assert (found.radius <= [1 + 1e-3, 0.5 + 1e-3]).all()
