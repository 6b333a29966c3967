"""Descs as the structs of C hold them: one of each operator and some with special values; and compilers for these."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dmlcheck.api import load_cases, validate
from dmlcheck.descs.fields import ScaleBias, Size2D
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.load import data_folder

COMPILERS = ("g++", "clang++")
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
PLAIN = {"DataType": "FLOAT32", "Sizes": [3]}
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "strided": (
        "CONVOLUTION",
        {
            "InputTensor": {
                "DataType": "FLOAT16",
                "Sizes": [1, 4, 1, 8],
                "Strides": [32, 0, 8, 1],
                "TotalTensorSizeInBytes": 2**53 + 4,
                "GuaranteedBaseOffsetAlignment": 64,
            },
            "FilterTensor": {"DataType": "FLOAT16", "Sizes": [2, 4, 1, 3], "Flags": "OWNED_BY_DML"},
            "OutputTensor": {"DataType": "FLOAT16", "Sizes": [1, 2, 1, 6]},
            "Mode": "CROSS_CORRELATION",
            "Direction": "FORWARD",
            "Strides": [1, 1],
            "Dilations": [1, 1],
            "StartPadding": [0, 0],
            "EndPadding": [0, 0],
            "OutputPadding": [0, 0],
            "GroupCount": 1,
            "FusedActivation": {"Type": "ACTIVATION_LINEAR", "Alpha": 0.1, "Beta": "-inf"},
        },
    ),
    "special": (
        "ELEMENT_WISE_CLIP",
        {
            "InputTensor": PLAIN,
            "OutputTensor": PLAIN,
            "ScaleBias": {"Scale": -0.0, "Bias": 1e-45},
            "Min": "nan",
            "Max": 3.4028234663852886e38,
        },
    ),
    "none": (
        "QUANTIZE",
        {"InputTensor": PLAIN, "QuantizationType": "NONE", "QuantizationTensors": [], "OutputTensor": PLAIN},
    ),
}
SCALARS: dict[str, tuple[Any, Any]] = {
    "FLOAT64": (5e-324, -0.0),
    "FLOAT32": (-0.0, "inf"),
    "FLOAT16": (-(2.0**-24), 65504.0),
    "UINT64": (0, 2**64 - 1),
    "UINT32": (1, 2**32 - 1),
    "UINT16": (2, 2**16 - 1),
    "UINT8": (65, 2**8 - 1),
    "INT64": (-(2**63), 2**63 - 1),
    "INT32": (-(2**31), 2**31 - 1),
    "INT16": (-(2**15), 2**15 - 1),
    "INT8": (-(2**7), 65),
}
for _type, (_low, _high) in SCALARS.items():
    _tensor = {"DataType": _type, "Sizes": [3]}
    MADE[_type] = (
        "ELEMENT_WISE_CLIP1",
        {"InputTensor": _tensor, "OutputTensor": _tensor, "MinMaxDataType": _type, "Min": _low, "Max": _high},
    )
for _half in ("inf", "-inf", "nan", 1.0, -0.333251953125):
    MADE[f"half{_half}"] = ("ELEMENT_WISE_CLIP1", {**MADE["FLOAT16"][1], "Min": _half, "Max": 0.0})


FORMATS = {"FLOAT": "f", "FLOAT_ARRAY": "f", "SCALE_BIAS": "f", "FLOAT32": "f", "FLOAT16": "e", "FLOAT64": "d"}


def completed(value: Any, type: str = "") -> Any:
    """Return a desc as a struct holds it: floats rounded to their type, sizes in bytes given."""
    if isinstance(value, TensorDesc):
        return value._replace(total_size=value.implied_bytes if value.total_size is None else value.total_size)
    if isinstance(value, OperatorDesc):
        types = {
            name: value.values[field.data_type] if field.data_type else field.type
            for name, field in value.spec.fields.items()
            if name in value.values
        }
        return OperatorDesc.of(value.spec, {name: completed(value.values[name], types[name]) for name in types})
    if isinstance(value, ScaleBias):
        return ScaleBias(*(completed(part, type) for part in value))
    if isinstance(value, tuple) and not isinstance(value, Size2D):
        return tuple(completed(part, type) for part in value)
    form = FORMATS.get(type)
    return struct.unpack(form, struct.pack(form, value))[0] if form else value


def desc_of(operator: str, fields: Mapping[str, Any]) -> OperatorDesc:
    read = read_desc(operator, fields)
    assert (read.findings, read.desc is None) == ((), False)
    return completed(read.desc)  # type: ignore[no-any-return]


def shipped(operator: str) -> OperatorDesc:
    """Return the desc of the shipped case that gives the most fields, of those that are valid."""
    folder = Path(data_folder("cases")) / operator.removeprefix("DML_OPERATOR_").lower()
    files = [folder / name for name in ("accepts.yaml", "values.yaml") if (folder / name).is_file()]
    cases = [case for file in files for case in load_cases(file) if case.invalid is None]
    case = max(cases, key=lambda case: len(json.dumps(case.desc)))
    assert validate(operator, case.desc) == []
    return desc_of(operator, case.desc)


def made() -> dict[str, OperatorDesc]:
    """Return the descs with special values by their names."""
    return {name: desc_of(operator, fields) for name, (operator, fields) in MADE.items()}


# ---- compilers


def compiler_of(name: str) -> str:
    """Return where a compiler is; without it the test is skipped."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def compiled(compiler: str, folder: Path, *words: str) -> None:
    command = [compiler, *STRICT, "-I", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
