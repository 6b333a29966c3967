"""Cases of ELEMENT_WISE_ADD as they are prepared, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from dmlcheck.cases.prepare import Prepared, prepare
from dmlcheck.cases.records import Case
from dmlcheck.diagnostics.wording import pointer

TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
ADD = {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR}


def add(**fields: Any) -> Case:
    return Case("", "", "", "ELEMENT_WISE_ADD", None, fields.pop("desc", ADD), **fields)


def all_of(tensor: dict[str, Any]) -> dict[str, Any]:
    """Return the desc of an addition of tensors that are all the same."""
    return dict.fromkeys(ADD, tensor)


def wrong(prepared: Prepared) -> list[tuple[str, str]]:
    return [(finding.rule, pointer(finding.path)) for finding in prepared.findings]


def at_newest(case: Case) -> Prepared:
    return prepare(case)
