"""Random descs of constants, sequences and diagonals, with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values.number_formats import NUMPY_TYPES

Made = tuple[OperatorDesc, dict[str, Any]]

FILLS = ("DIAGONAL_MATRIX", "DIAGONAL_MATRIX1", "FILL_VALUE_CONSTANT", "FILL_VALUE_SEQUENCE")


def fills(operator: str) -> Iterator[Made]:
    """Yield descs of an operator, some of each data type of its table."""
    generator = np.random.default_rng(9)
    table = next(iter(load_spec(f"DML_OPERATOR_{operator}").support[0].rows.values()))
    for data_type in table["OutputTensor"].types:
        for _ in range(12):
            yield filled(generator, operator, data_type)


def filled(generator: np.random.Generator, operator: str, data_type: str) -> Made:
    """Return a desc of one data type, with random sizes and fields."""
    sizes = generator.integers(1, 6, generator.integers(2, 5)).tolist()
    tensor = {"DataType": data_type, "Sizes": sizes}
    fields: dict[str, Any] = {"OutputTensor": tensor}
    inputs = {}
    if operator == "DIAGONAL_MATRIX":
        fields |= {"Offset": int(generator.integers(-6, 7)), "Value": round(float(generator.normal()), 2)}
    else:
        fields["ValueDataType"] = data_type
        names = ["ValueStart", "ValueDelta"] if operator == "FILL_VALUE_SEQUENCE" else ["Value"]
        fields |= dict(zip(names, elements(generator, data_type, len(names)).tolist(), strict=True))
    if operator == "DIAGONAL_MATRIX1":
        begin, end = generator.choice([-(2**31), *range(-6, 7), 2**31 - 1], 2).tolist()
        fields |= {"DiagonalFillBegin": begin, "DiagonalFillEnd": end}
        if generator.random() < 0.7:
            fields["InputTensor"] = tensor
            inputs["InputTensor"] = elements(generator, data_type, int(np.prod(sizes))).reshape(sizes)
    if operator == "DIAGONAL_MATRIX" and data_type.startswith("U"):
        fields["Value"] = abs(fields["Value"])
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", fields, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc, inputs


def elements(generator: np.random.Generator, data_type: str, count: int) -> Any:
    """Return integers of the whole range of a type, or ordinary floats."""
    dtype = NUMPY_TYPES[data_type]
    if dtype.kind == "f":
        return (generator.normal(size=count) * 100).astype(dtype)
    about = np.iinfo(dtype)
    return generator.integers(about.min, about.max, count, dtype, endpoint=True)
