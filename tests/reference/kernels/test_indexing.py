"""The operators of indices against plain Python, whole and in tiles; what is undefined; gather after scatter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import indexed
import numpy as np
import pytest
from drawn_descs import TINY, Made, draws
from products_of import peak
from valid_descs import valid

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.tiling import cut
from dmlcheck.specs.records import OUTPUT

Array = np.ndarray[Any, Any]


BY_INDEX = tuple(name for name in indexed.OPERATORS if name.startswith(("GATHER", "SCATTER", "ONE")))


def indexings(operator: str, count: int) -> Iterator[Made]:
    """Yield descs with their inputs, of which a tenth of the indices is outside of its dimension."""
    generator = np.random.default_rng(7)
    styles = ("normal",) if operator in BY_INDEX else ("edges",)
    for desc, inputs in draws(operator, count, sizes=TINY, styles=styles):
        given = inputs.get("IndicesTensor")
        if given is None:
            yield desc, inputs
            continue
        limits, size = np.iinfo(given.dtype), max(*desc["OutputTensor"].sizes, *_sizes(desc, "InputTensor"))
        beyond = [size, size + 5, limits.max, *([-size - 1, limits.min] if limits.min else [])]
        outside = generator.choice(np.array(beyond, given.dtype), given.shape)
        yield desc, {**inputs, "IndicesTensor": np.where(generator.random(given.shape) < 0.1, outside, given)}


def _sizes(desc: OperatorDesc, name: str) -> tuple[int, ...]:
    parts = desc.parts.get(name)
    return parts[0].tensor.sizes if parts else (1,)


def tensor(array: Array) -> dict[str, Any]:
    return {"DataType": array.dtype.name.upper(), "Sizes": list(array.shape)}


def desc_of(inputs: dict[str, Array], outputs: dict[str, tuple[str, tuple[int, ...]]], **fields: Any) -> dict[str, Any]:
    """Return a desc of these tensors."""
    tensors = {name: tensor(array) for name, array in inputs.items()}
    return {**tensors, **{name: {"DataType": of, "Sizes": list(to)} for name, (of, to) in outputs.items()}, **fields}


def listed(part: engine.ComputedOutput) -> list[Any]:
    marks = np.zeros(part.values.shape, bool) if part.undefined is None else part.undefined
    pairs = zip(part.values.reshape(-1).tolist(), marks.reshape(-1).tolist(), strict=True)
    return [indexed.OPEN if is_undefined else value for value, is_undefined in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 7, None])
@pytest.mark.parametrize("operator", indexed.OPERATORS)
def test_random_descs_give_what_plain_python_gives_in_tiles_of_any_size(
    monkeypatch: pytest.MonkeyPatch, operator: str, limit: int | None
) -> None:
    if limit is not None:
        monkeypatch.setattr(cut, "BLOCK", limit)
        monkeypatch.setattr(cut, "BLOCK_AS_IS", limit)
    undefined = 0
    for desc, inputs in indexings(operator, 120):
        found, expected = engine.evaluate(desc, inputs), indexed.results(desc, inputs)
        assert {label: listed(part) for label, part in found.items()} == expected, (desc, inputs)
        undefined += sum(values.count(indexed.OPEN) for values in expected.values())
    assert undefined > 3


# ---- properties


def output_of(operator: str, desc: dict[str, Any], inputs: dict[str, Array]) -> Array:
    found = valid(operator, desc)
    return engine.run(found, inputs)["OutputTensor"]


@pytest.mark.slow
@pytest.mark.parametrize("operator", BY_INDEX)
@pytest.mark.parametrize("data_type", ["float16", "float32", "float64"])
def test_moved_elements_keep_every_bit(operator: str, data_type: str) -> None:
    """Random bits, many of which are NaN with a payload, against the same bits as integers."""
    generator = np.random.default_rng(7)
    floats, whole = np.dtype(data_type), np.dtype(f"uint{8 * np.dtype(data_type).itemsize}")
    values = ("InputTensor", "UpdatesTensor", "ValuesTensor")
    exponents = int(np.array(np.inf, floats).view(whole))
    for drawn, given in draws(operator, 20, sizes=TINY):
        desc, inputs = notation(drawn), dict(given)
        for name in set(values) & set(inputs):
            sizes = inputs[name].shape
            bits = generator.integers(0, np.iinfo(whole).max, sizes, whole) | np.array(exponents, whole)
            inputs[name] = bits.view(floats)
        as_bits = {name: array.view(whole) if name in values else array for name, array in inputs.items()}
        moved = output_of(operator, typed(desc, values, data_type), inputs)
        assert np.array_equal(moved.view(whole), output_of(operator, typed(desc, values, whole.name), as_bits))


def typed(desc: dict[str, Any], names: tuple[str, ...], data_type: str) -> dict[str, Any]:
    """Return a desc with another data type for some tensors and the output."""
    changed = {name: {**desc[name], "DataType": data_type.upper()} for name in (*names, "OutputTensor") if name in desc}
    return {**desc, **changed}


@pytest.mark.slow
@pytest.mark.parametrize("data_type", ["float32", "int64"])
def test_many_long_sequences_take_three_times_their_tensors_at_most(data_type: str) -> None:
    count, k = 1 << 20, 1 << 18
    numbers = np.random.default_rng(7).permutation(count)
    x = np.stack([numbers, numbers[::-1]], axis=1).astype(data_type)  # whose elements are not side by side
    outputs = {"OutputValueTensor": (data_type.upper(), (k, 2)), "OutputIndexTensor": ("UINT32", (k, 2))}
    fields = desc_of({"InputTensor": x}, outputs, Axis=0, K=k, AxisDirection="INCREASING")
    desc = valid("TOP_K1", fields)
    found = engine.run(desc, {"InputTensor": x})
    assert np.array_equal(found["OutputValueTensor"], np.stack([np.arange(k)] * 2, axis=1))
    assert np.array_equal(found["OutputIndexTensor"][:, 0], np.argsort(numbers, kind="stable")[:k])
    size = sum(output.nbytes for output in found.values())
    assert peak(desc, {"InputTensor": x}) < 3 * (x.nbytes + size)


# ---- comparison


@pytest.mark.slow
@pytest.mark.parametrize("operator", indexed.OPERATORS)
def test_a_wrong_element_is_refused_and_one_that_is_undefined_is_not(operator: str) -> None:
    generator = np.random.default_rng(7)
    planted = 0
    for desc, inputs in indexings(operator, 60):
        results = engine.evaluate(desc, inputs)
        expected = {part.label: (part.tensor, results[part.label].values) for part in desc.tensors(OUTPUT)}
        wrong = {label: changed(generator, part) for label, part in results.items()}
        actual = {label: faulty for label, (faulty, _) in wrong.items()}
        found = compare(expected, actual, limit_for(desc, None), partial(bounds, desc, inputs))
        for label, (_, place) in wrong.items():
            refused = found[label].refused
            assert (refused is None) == (place is None)
            assert refused is None or np.argwhere(refused).tolist() == [list(place or ())]
            planted += place is not None
    assert planted > 20


def changed(generator: np.random.Generator, part: engine.ComputedOutput) -> tuple[Array, tuple[int, ...] | None]:
    """Return results with one element changed, and all that are undefined; and where that one is, if there is any."""
    is_undefined = np.zeros(part.values.shape, bool) if part.undefined is None else part.undefined
    faulty = np.where(is_undefined, part.values.dtype.type(77), part.values)
    places = [tuple(place) for place in np.argwhere(~is_undefined & (part.values == part.values)).tolist()]
    if not places:
        return faulty, None
    place = places[int(generator.integers(len(places)))]
    faulty[place] = 3 if faulty[place] in (0, 1) or np.isinf(float(faulty[place])) else 0
    return faulty, place
