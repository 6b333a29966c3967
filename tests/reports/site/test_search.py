"""The entries of the site's search, and its script."""

from __future__ import annotations

from dmlcheck.inspection.operator_pages import operator_record
from dmlcheck.reports.site.build import SearchEntry, search_script, site_entries
from dmlcheck.reports.site.guide import guide_page
from dmlcheck.specs.load import load_spec

GUIDE = [guide_page("guide-a.html", "# A page\n\nText.\n\n## A part\n")]
MESSAGES = [{"patterns": ["E_FAIL é", "80004005"], "by": "DirectML", "id": "M7"}]


def entries() -> dict[str, SearchEntry]:
    names = ("ACTIVATION_GELU", "CONVOLUTION")
    records = [operator_record(load_spec(f"DML_OPERATOR_{name}")) for name in names]
    return {entry.name: entry for entry in site_entries(records, GUIDE, MESSAGES)}


def test_an_operator_is_found_by_the_names_of_other_libraries_with_and_without_their_domain() -> None:
    entry = entries()["ACTIVATION_GELU"]
    assert entry.labels.startswith("C1 C2 C3")
    assert entry.text.startswith("operator, from 5_1: ")
    assert entry.address == "activation_gelu.html"
    assert {"GELU", "com.microsoft.FastGelu", "FastGelu", "gelu", "torch.nn.GELU"} <= set(entry.names.split())


def test_a_recipe_leads_to_its_place() -> None:
    assert entries()["Depthwise convolution"][1:3] == ("recipe with CONVOLUTION", "convolution.html#R2")


def test_a_field_leads_to_the_first_operator_that_has_it() -> None:
    assert entries()["GroupCount"][1:3] == ("field of CONVOLUTION", "convolution.html#GroupCount")
    assert entries()["InputTensor"][1:3] == (
        "field of ACTIVATION_GELU, CONVOLUTION",
        "activation_gelu.html#InputTensor",
    )


def test_an_enumeration_is_found_by_its_values() -> None:
    entry = entries()["DML_CONVOLUTION_MODE"]
    assert (entry.text, entry.address) == ("enumeration", "convolution.html#Mode")
    assert "CROSS_CORRELATION" in entry.names.split()


def test_rules_levels_types_guide_and_messages_are_found() -> None:
    addresses = {name: entry.address for name, entry in entries().items()}
    assert addresses["size-mismatch"] == "rule-size-mismatch.html"
    assert addresses["DML_FEATURE_LEVEL_4_1"] == "level-4_1.html"
    assert addresses["FLOAT16"] == "type-float16.html"
    assert addresses["Known deviations"] == "corrections.html#deviations"
    assert entries()["DML_FEATURE_LEVEL_4_1"][3:5] == ("4_1", "Windows 11 22H2")
    assert addresses["A page"] == "guide-a.html"
    assert addresses["A part"] == "guide-a.html#a-part"
    assert addresses["E_FAIL é"] == "messages.html#M7"
    assert entries()["E_FAIL é"].words == "80004005"


def test_the_script_has_the_values_of_each_entry_up_to_the_last_one() -> None:
    made = [SearchEntry("A", "a line", "a.html"), SearchEntry("B é", "", "b.html", words="c d")]
    script = search_script(made)
    assert script.startswith('"use strict";\n')
    assert 'const INDEX = [\n["A","a line","a.html"],\n["B é","","b.html","","c d"]\n];\n' in script
    assert '["Operators","by family","index.html"]' in script.partition("INDEX")[0]
