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
    rest = (own + start + end - span) % stride
    if generator.random() < 0.3:
        places += (rest > 0) & (places * stride < own + start)  # rounded up
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


def whole(generator: np.random.Generator, sizes: tuple[int, ...], data_type: str) -> Array:
    about = np.iinfo(data_type.lower())
    return generator.integers(about.min, about.max, sizes, data_type.lower(), endpoint=True)


def checked(operator: str, tensors: dict[str, Array], outputs: dict[str, Any], **fields: Any) -> Made:
    """Return the desc of an operator with these inputs, by the names of the fields without `Tensor`."""
    given = {f"{name}Tensor": array for name, array in tensors.items()}
    described = {name: {"DataType": x.dtype.name.upper(), "Sizes": list(x.shape)} for name, x in given.items()}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", {**described, **outputs, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, given


def quantized(generator: np.random.Generator) -> Made:
    """Return a QUANTIZED_LINEAR_AVERAGE_POOLING, one scale and zero point for all or for each channel."""
    made = drawn(generator, "AVERAGE_POOLING1")
    first, second = generator.choice(["INT8", "UINT8"], 2).tolist()
    own = (1, made["input"][1] if generator.random() < 0.5 else 1, *[1] * (len(made["input"]) - 2))
    tensors = {"Input": whole(generator, made["input"], first)}
    tensors |= {name: generator.uniform(0.1, 2, own).astype(np.float32) for name in ("InputScale", "OutputScale")}
    if generator.random() < 0.7:
        tensors |= {"InputZeroPoint": whole(generator, own, first), "OutputZeroPoint": whole(generator, own, second)}
    output = {"OutputTensor": {"DataType": second, "Sizes": list(made["output"])}}
    fields = made["fields"] | {"IncludePadding": bool(generator.integers(2))}
    return checked("QUANTIZED_LINEAR_AVERAGE_POOLING", tensors, output, **fields)


def unpooling(generator: np.random.Generator) -> Made:
    """Return a MAX_UNPOOLING whose indices are all different."""
    sizes = tuple(generator.integers(1, 4, 4).tolist())
    larger = (*sizes[:2], sizes[2] + 2, sizes[3] + 1)
    x = generator.normal(size=sizes).astype(generator.choice([np.float32, np.float16]))
    places = generator.permutation(int(np.prod(larger)))[: x.size].reshape(sizes).astype(np.uint32)
    output = {"OutputTensor": {"DataType": x.dtype.name.upper(), "Sizes": list(larger)}}
    return checked("MAX_UNPOOLING", {"Input": x, "Indices": places}, output)


def regions(generator: np.random.Generator) -> Made:
    """Return a ROI_POOLING with regions inside and across the edges."""
    sizes = tuple(generator.integers(1, 8, 4).tolist())
    x = generator.normal(size=sizes).astype(np.float32)
    count = int(generator.integers(1, 5))
    corners = np.sort(generator.integers(-2, 9, (count, 2, 2)), axis=1).reshape(count, 4)
    images = generator.integers(0, sizes[0], (count, 1))
    scale = float(generator.choice([1, 0.25, 1.3]))
    roi = np.concatenate([images, corners / scale], axis=1).astype(np.float32).reshape(1, 1, count, 5)
    height, width = generator.integers(1, 4, 2).tolist()
    output = {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [count, sizes[1], height, width]}}
    fields = {"SpatialScale": scale, "PooledSize": {"Height": height, "Width": width}}
    return checked("ROI_POOLING", {"Input": x, "ROI": roi}, output, **fields)


NAMES = (
    *("AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1"),
    *("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"),
)
POOLING: dict[str, Callable[[np.random.Generator], Made]] = {
    **{name: (lambda generator, name=name: pooling(generator, name)) for name in NAMES},
    "MAX_UNPOOLING": unpooling,
    "QUANTIZED_LINEAR_AVERAGE_POOLING": quantized,
    "ROI_POOLING": regions,
}


def poolings(operator: str, count: int = 60) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        yield POOLING[operator](generator)
