"""Operators that multiply matrices or slide filters, for tests: their descs, results and bounds."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]


def built(
    operator: str, sizes: tuple[int, ...], data_type: str, tensors: dict[str, Array | None], **fields: Any
) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return the desc of an operator with these inputs and an output of these sizes, and the inputs by field."""
    inputs = {f"{name}Tensor": array for name, array in tensors.items() if array is not None}
    described = {name: {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)} for name, x in inputs.items()}
    output = {"OutputTensor": {"DataType": data_type, "Sizes": list(sizes)}}
    desc, findings = validation.validate(
        load_spec(f"DML_OPERATOR_{operator}").operator, {**described, **output, **fields}, NEWEST_LEVEL
    )
    assert desc is not None
    assert not findings, [finding.message for finding in findings]
    return desc, inputs


def product(a: Array, b: Array, **fields: Any) -> tuple[OperatorDesc, dict[str, Array]]:
    """Return a GEMM of two arrays of matrices, as they stand."""
    sizes = (*a.shape[:-1], b.shape[-1])
    plain = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}
    return built("GEMM", sizes, a.dtype.name.upper(), {"A": a, "B": b}, **{**plain, **fields})


def evaluated(desc: OperatorDesc, inputs: dict[str, Array]) -> Array:
    """Return the results."""
    return engine.evaluate(desc, inputs)["OutputTensor"].values


def marks(desc: OperatorDesc, inputs: dict[str, Array]) -> Array:
    """Return which results are left open."""
    found = engine.evaluate(desc, inputs)["OutputTensor"]
    return np.zeros(found.values.shape, bool) if found.undefined is None else found.undefined


def opened(desc: OperatorDesc, inputs: dict[str, Array]) -> list[Any]:
    """Return the results in row-major order, None for those that are left open."""
    pairs = zip(evaluated(desc, inputs).reshape(-1).tolist(), marks(desc, inputs).reshape(-1).tolist(), strict=True)
    return [None if mark else value for value, mark in pairs]


def bound(desc: OperatorDesc, inputs: dict[str, Array], accumulate: str = "FLOAT32", **options: Any) -> Bound:
    """Return the bound of all results."""
    asked = {"OutputTensor": np.ones(desc.parts["OutputTensor"][0].tensor.sizes, bool)}
    return gathered(desc, inputs, asked, accumulate, **options)["OutputTensor"]


def peak(desc: OperatorDesc, inputs: dict[str, Array]) -> int:
    """Return how many bytes the results take, and what one thread needs on the way to them."""
    engine.keep_memory()  # an array that the first results of a process need
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_MOST_THREADS", 1)
        tracemalloc.start()
        try:
            engine.evaluate(desc, inputs)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def random_floats(generator: np.random.Generator, shape: tuple[int, ...], data_type: str) -> Array:
    """Return numbers of one magnitude or of several."""
    values = generator.normal(size=shape) * 2.0 ** generator.integers(-3, 3)
    if generator.random() < 0.3:
        values *= 2.0 ** -generator.integers(0, 12, shape)
    return values.astype(data_type.lower())


def random_integers(generator: np.random.Generator, shape: tuple[int, ...], data_type: str) -> Array:
    """Return integers of the whole range of a type."""
    limits = np.iinfo(data_type.lower())
    return generator.integers(limits.min, limits.max, shape, data_type.lower(), endpoint=True)
