"""The record of an operator, from which its page and its JSON are made."""

from __future__ import annotations

from dmlcheck.inspection.operator_pages import operator_record
from dmlcheck.specs.load import load_spec


def test_a_record_has_what_follows_from_spec_and_text() -> None:
    record = operator_record(load_spec("DML_OPERATOR_TOP_K1"))
    assert record.about.purpose.startswith("Finds the K largest or K smallest elements")
    assert record.formula[0].startswith("The K smallest or largest elements of each sequence")
    assert ("PyTorch", "torch.topk") in {(each.library, each.name) for each in record.counterparts}
    assert record.older == "DML_OPERATOR_TOP_K"
    assert record.version.added == ("AxisDirection",)
    assert [each.operator for each in record.versions] == ["DML_OPERATOR_TOP_K", "DML_OPERATOR_TOP_K1"]
