"""Descs back in their notation, as plain values that JSON can hold."""

from __future__ import annotations

import math
from typing import Any

from dmlcheck.descs.fields import ScaleBias, Size2D
from dmlcheck.descs.records import OperatorDesc, TensorDesc


def notation(desc: OperatorDesc) -> dict[str, Any]:
    """Return the fields of a desc as `read_desc` takes them: mappings, lists, texts, numbers and booleans only.

    Counts are filled in, enumeration values are suffixes, a nested operator is {Type, ...fields} with its full name,
    and missing fields stay missing. NaN and the infinities, for which JSON has no numbers, are the texts of case files.
    Whole numbers keep all their digits; some readers of JSON lose digits from 2^53 on.
    """
    return {name: _plain(desc.values[name]) for name in desc.spec.fields if desc.values.get(name) is not None}


def without_counts(desc: OperatorDesc) -> dict[str, Any]:
    """Return the fields of a desc in their notation, without the counts that follow from its arrays."""
    fields, values = desc.spec.fields, desc.values
    return {
        name: value
        for name, value in notation(desc).items()
        if all(values.get(array) is None for array in fields[name].counts)
    }


def tensor_notation(tensor: TensorDesc) -> dict[str, Any]:
    """Return a tensor desc without the fields that say no more than leaving them out would."""
    fields: dict[str, Any] = {"DataType": tensor.data_type, "Sizes": list(tensor.sizes)}
    if tensor.strides is not None:
        fields["Strides"] = list(tensor.strides)
    if tensor.total_size is not None:
        fields["TotalTensorSizeInBytes"] = tensor.total_size
    if tensor.alignment:
        fields["GuaranteedBaseOffsetAlignment"] = tensor.alignment
    if tensor.flags != "NONE":
        fields["Flags"] = tensor.flags
    return fields


def _plain(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return tensor_notation(value)
    if isinstance(value, OperatorDesc):
        return {"Type": value.spec.operator, **notation(value)}
    if isinstance(value, (Size2D, ScaleBias)):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
