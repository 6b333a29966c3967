"""The page of an operator: what it says is what the spec says."""

from __future__ import annotations

import json

import pytest
from lxml import html

from dmlcheck.inspection.operator_record import operator_record
from dmlcheck.reports.conditions import constraint_text
from dmlcheck.specs.load import load_spec, operator_names


def facts(page: str) -> dict[str, str]:
    """Return the facts of a page by their name, each with its text, one space for any."""
    marked = html.document_fromstring(page).xpath("//*[@data-fact]")
    found = {element.get("data-fact"): " ".join(element.text_content().split()) for element in marked}
    assert len(found) == len(marked)
    return found


@pytest.mark.parametrize("operator", operator_names())
def test_the_facts_of_a_page_are_those_of_the_spec(operator: str, site: dict[str, str]) -> None:
    record = operator_record(load_spec(operator))
    spec = record.spec
    found = facts(site[spec.short.lower() + ".html"])
    expected = {
        "operator": operator,
        "purpose": record.about.purpose,
        "introduced": spec.introduced,
        "in_place": "Yes" if spec.in_place else "No",
        "example": record.about.example,
        **{f"fields.{field.name}": field.about for field in spec.fields.values()},
        **{f"constraints.{row.id}": constraint_text(row) for row in spec.constraints},
        **{f"errata.{row.id}": row.correct for row in spec.errata},
        **{f"known_deviations.{index}": row.text for index, row in enumerate(spec.known_deviations)},
        **{f"alternatives.{index}": text for index, text in enumerate(spec.alternatives)},
        **{f"differences.{index}": row.text for index, row in enumerate(spec.differences)},
    }
    if record.older:
        expected["changes"] = record.version.text
    assert {name: found[name] for name in expected} == {name: " ".join(text.split()) for name, text in expected.items()}
    assert all(part in found[f"undefined.{index}"] for index, each in enumerate(record.undefined) for part in each[1])
    assert {name for name in found if name.startswith("fields.")} == {f"fields.{name}" for name in spec.fields}


def test_the_search_finds_operators_by_their_counterparts_fields_and_words(site: dict[str, str]) -> None:
    rows = json.loads(site["search.js"].removeprefix("const INDEX = ").rstrip().removesuffix(";"))
    words = {name: more for name, _, _, more in rows}
    assert len(words) == len(operator_names())
    for word in ("Resize", "interpolate", "RoundingDirection", "half pixel"):
        assert word in words["RESAMPLE2"]


def test_a_page_has_its_example_as_grids_and_its_levels_as_a_matrix(site: dict[str, str]) -> None:
    tree = html.document_fromstring(site["top_k1.html"])
    grids = tree.xpath("//table[@class='grid']")
    assert [[cell.text for cell in grid.iter("td")] for grid in grids] == [
        ["3", "9", "1", "7", "8", "2", "6", "4"],
        ["1", "3", "2", "4"],
        ["2", "0", "1", "3"],
    ]
    rows = {
        row.findtext("th"): [cell.text for cell in row.iter("td")]
        for row in tree.xpath("//table[@class='levels'][1]//tr")
    }
    assert rows["INT64"] == ["–"] * 7 + ["+"] + ["✓"] * 7  # noqa: RUF001 - as the page has it
