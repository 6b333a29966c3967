"""Descs of five operators: what their pages say of them is typed in where it is tested."""

from __future__ import annotations

from typing import Any

LEVELS = ["1_0", "2_0", "2_1", "3_0", "3_1", "4_0", "4_1", "5_0", "5_1", "5_2", "6_0", "6_1", "6_2", "6_3", "6_4"]
X4 = (1, 1, 2, 3)


def tensor(data_type: str, *sizes: int) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def reduce(function: str, data_type: str, *sizes: int, output: str | None = None) -> dict[str, Any]:
    kept = (*sizes[:-1], 1)
    return {
        "Function": function, "InputTensor": tensor(data_type, *sizes),
        "OutputTensor": tensor(output or data_type, *kept), "Axes": [len(sizes) - 1],
    }  # fmt: skip


def arg(input_type: str, output_type: str, *sizes: int) -> dict[str, Any]:
    desc = {**reduce("ARGMAX", input_type, *sizes, output=output_type), "AxisDirection": "INCREASING"}
    del desc["Function"]
    return desc


def hardmax(data_type: str, *sizes: int, axes: list[int] | None = None) -> dict[str, Any]:
    desc: dict[str, Any] = {"InputTensor": tensor(data_type, *sizes), "OutputTensor": tensor(data_type, *sizes)}
    return desc if axes is None else {**desc, "Axes": axes}


GOOD_ARG = arg("FLOAT32", "UINT32", 2, 3)
GOOD_SUM = reduce("SUM", "FLOAT32", 2, 3)
GOOD_HARDMAX = hardmax("FLOAT32", 1, 1, 2, 3)
GOOD_HARDMAX1 = hardmax("FLOAT32", 2, 3, axes=[1])
