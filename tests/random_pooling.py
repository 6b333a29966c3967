"""Random descs of pooling, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.names import NEWEST_LEVEL

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Array]]


def drawn(generator: np.random.Generator, operator: str) -> dict[str, Any]:
    """Return a window that fits: the fields of a desc, and the sizes of input and output."""
    rank = int(generator.integers(2, 4))
    size, stride, dilation = (generator.integers(1, 4, rank) for _ in range(3))
    dilation = dilation if operator[-1] == ("2" if "MAX" in operator else "1") else np.ones(rank, int)
    start, end = (np.minimum(generator.integers(0, 3, rank), size - 1) for _ in range(2))
    span = (size - 1) * dilation + 1
    own = np.maximum(span - start - end, 1) + generator.integers(0, 4, rank)
    places = (own + start + end - span) // stride + 1
    lead = generator.integers(1, 4, 2).tolist()
    fields = {"Strides": stride, "WindowSize": size, "StartPadding": start, "EndPadding": end, "Dilations": dilation}
    if operator in ("AVERAGE_POOLING", "LP_POOLING", "MAX_POOLING", "MAX_POOLING1"):
        del fields["Dilations"]
    listed = {name: value.tolist() for name, value in fields.items()}
    return {"fields": listed, "input": (*lead, *own.tolist()), "output": (*lead, *places.tolist())}


def built(operator: str, x: Array, output: tuple[int, ...], **fields: Any) -> Made:
    kind = x.dtype.name.upper()
    tensors = {"InputTensor": {"DataType": kind, "Sizes": list(x.shape)}}
    tensors |= {"OutputTensor": {"DataType": kind, "Sizes": list(output)}}
    if "MAX" in operator and operator != "MAX_POOLING":
        tensors |= {"OutputIndicesTensor": {"DataType": "UINT32", "Sizes": list(output)}}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, {"InputTensor": x}


def pooling(generator: np.random.Generator, operator: str) -> Made:
    made = drawn(generator, operator)
    dtype = generator.choice([np.float32, np.float16])
    x = (generator.normal(size=made["input"]) * 5).astype(dtype)
    x = np.rint(x) if "MAX" in operator else x  # with ties
    fields = made["fields"]
    if "AVERAGE" in operator:
        fields["IncludePadding"] = bool(generator.integers(2))
    if "LP" in operator:
        fields["P"] = int(generator.integers(1, 4))
        x = np.abs(x) if fields["P"] % 2 else x
    return built(operator, x, made["output"], **fields)


NAMES = (
    *("AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1"),
    *("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"),
)
POOLING: dict[str, Callable[[np.random.Generator], Made]] = {
    name: (lambda generator, name=name: pooling(generator, name)) for name in NAMES
}


def poolings(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield POOLING[operator](generator)
