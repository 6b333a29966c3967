"""The search index of the site."""

from __future__ import annotations

import json

from dmlcheck.inspection.operator_record import operator_record
from dmlcheck.reports.site.guide import guide_page
from dmlcheck.reports.site.search import index_text
from dmlcheck.specs.load import load_spec

GUIDE = [guide_page("guide-a.html", "# A page\n\nText.\n\n## A part\n")]
MESSAGES = [{"patterns": ["E_FAIL é", "80004005"], "by": "DirectML", "id": "M7"}]


def entries() -> dict[str, list[str]]:
    names = ("ACTIVATION_GELU", "CONVOLUTION")
    records = [operator_record(load_spec(f"DML_OPERATOR_{name}")) for name in names]
    text = index_text(records, GUIDE, MESSAGES)
    begin, _, rows = text.partition("const INDEX = ")
    assert begin == '"use strict";\n'
    return {row[0]: row for row in json.loads(rows.rstrip(";\n"))}


def test_an_operator_is_found_by_the_names_of_other_libraries_with_and_without_their_domain() -> None:
    _, kind, address, words, constraints = entries()["ACTIVATION_GELU"]
    assert constraints == 3
    assert kind.startswith("operator, from 5_1: ")
    assert address == "activation_gelu.html"
    assert {"com.microsoft.FastGelu", "FastGelu", "gelu", "torch.nn.GELU"} <= set(words.split())


def test_a_recipe_leads_to_its_place() -> None:
    assert entries()["Depthwise convolution"][1:3] == ["recipe with CONVOLUTION", "convolution.html#R2"]


def test_a_field_leads_to_the_first_operator_that_has_it() -> None:
    assert entries()["GroupCount"][1:3] == ["field of CONVOLUTION", "convolution.html#GroupCount"]
    assert entries()["InputTensor"][1:3] == [
        "field of ACTIVATION_GELU, CONVOLUTION",
        "activation_gelu.html#InputTensor",
    ]


def test_an_enumeration_is_found_by_its_values() -> None:
    _, kind, address, words = entries()["DML_CONVOLUTION_MODE"]
    assert (kind, address) == ("enumeration", "convolution.html#Mode")
    assert "CROSS_CORRELATION" in words.split()


def test_rules_levels_types_guide_and_messages_are_found() -> None:
    found = {name: row[2] for name, row in entries().items()}
    assert found["size-mismatch"] == "rule-size-mismatch.html"
    assert found["DML_FEATURE_LEVEL_4_1"] == "level-4_1.html"
    assert found["FLOAT16"] == "type-float16.html"
    assert found["Known deviations"] == "corrections.html#deviations"
    assert entries()["DML_FEATURE_LEVEL_4_1"][3] == "4_1 Windows 11 22H2"
    assert found["A page"] == "guide-a.html"
    assert found["A part"] == "guide-a.html#a-part"
    assert found["E_FAIL é"] == "messages.html#M7"
    assert entries()["E_FAIL é"][3] == "80004005"
