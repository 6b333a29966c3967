"""The whole site: every fact of every spec on exactly one page, no dead link, small pages, the same bytes again."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
import site_pages
from jinja2 import UndefinedError
from site_pages import MOST_BYTES, MOST_OF_A_PAGE, MOST_PAGES, cases_of, dead_links, facts_of, files, trees

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.inspection.executed import executed_dict, runs_of
from dmlcheck.inspection.operator_pages import operator_dict, operator_record
from dmlcheck.reports.executed import executed_text
from dmlcheck.reports.site.build import (
    GuidePage,
    SearchEntry,
    address_of_guide_page,
    address_of_level,
    address_of_operator,
    address_of_rule,
    address_of_type,
    breakable,
    file_text,
    first_sentences,
    guide_page,
    guide_pages,
    guide_values,
    leaves,
    linked,
    neighbours,
    prose,
    render,
    search_script,
    site_entries,
    slug,
    with_minus,
)
from dmlcheck.reports.site.operators import TYPES
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVELS, short_operator

pytestmark = pytest.mark.slow

HASH = """
import hashlib
from dmlcheck.reports.site.build import site_files
from dmlcheck.specs.load import load_spec
specs = [load_spec("DML_OPERATOR_" + name) for name in ("GEMM", "REDUCE", "RESAMPLE2", "CAST")]
whole = hashlib.sha256()
for file in site_files(specs, {}):
    whole.update(f"{file.name}\\0{file.text}\\0".encode())
print(whole.hexdigest())
"""


def test_every_fact_of_every_spec_is_on_its_page_once() -> None:
    for name in operator_names():
        record = operator_dict(operator_record(load_spec(name)))
        expected_elsewhere(record)
        cases = [{key: recipe.pop(key) for key in ("desc", "inputs", "outputs")} for recipe in record["recipes"]]
        assert cases == list(cases_of(trees()[address_of_operator(name)]))
        expected = dict(site_pages.leaves(record))
        found = list(facts_of(trees()[address_of_operator(name)]))
        assert len(expected) > 20
        assert Counter(place for place, _ in found) == dict.fromkeys(expected, 1), name
        assert dict(found) == expected


def expected_elsewhere(record: dict[str, Any]) -> None:
    """Check what a record says again, or what other pages say, and drop it."""
    texts = [undefined_text(row) for row in record["undefined"] if row["kind"] == "undefined"]
    assert list(map(str.split, record.pop("unspecified"))) == list(map(str.split, texts))
    names: dict[str, list[str]] = {}
    for row in record["counterparts"]:
        names.setdefault(row["library"], []).append(row["name"])
    assert record.pop("names") == {library: names[library] for library in ("ONNX", "WebNN") if library in names}
    measured, of_undefined = record.pop("measured"), [one for row in record["undefined"] for one in row["measured"]]
    assert measured[: len(of_undefined)] == of_undefined
    assert {one["text"] for one in measured[len(of_undefined) :]} <= {row["holds"] for row in record["errata"]}
    page = " ".join(trees()[address_of_operator(short_operator(record["operator"]))].text_content().split())
    for counted, (run, counts) in zip(record.pop("executed"), runs_of(record["operator"]), strict=True):
        assert counted == executed_dict(run, counts)
        assert executed_text(run, counts) in page
    for one in record.pop("lineage"):  # its own page has it
        assert one == operator_dict(operator_record(load_spec(one["operator"])))["changes"]


def undefined_text(row: dict[str, Any]) -> str:
    told = map("{text} Measured: {library} on {device}, {date}.".format_map, row["measured"])
    return " ".join([row["condition"], row["reason"], *row["outcomes"], row["reference"], *told])


def test_there_is_a_page_for_each_operator_rule_level_and_data_type() -> None:
    expected = {
        *map(address_of_operator, operator_names()),
        *map(address_of_rule, RULES),
        *map(address_of_level, LEVELS),
        *map(address_of_type, TYPES),
    }
    assert expected <= trees().keys()
    assert len(expected) == len(operator_names()) + len(RULES) + len(LEVELS) + len(TYPES)


def test_no_link_is_dead() -> None:
    assert list(dead_links()) == []
    assert sum(len(tree.findall(".//a[@href]")) for tree in trees().values()) > 10_000


def test_a_list_of_terms_has_terms_and_texts_alone() -> None:
    for name, tree in trees().items():
        inside = {child.tag for terms in tree.iterfind(".//dl") for child in terms}
        assert inside <= {"dt", "dd", "div"}, name


def test_no_page_has_an_id_twice() -> None:
    for name, tree in trees().items():
        ids = Counter(element.get("id") for element in tree.iterfind(".//*[@id]"))
        assert [each for each, count in ids.items() if count > 1] == [], name


def test_pages_and_site_are_small() -> None:
    sizes = {name: len(text.encode()) for name, text in files().items()}
    assert sum(name.endswith(".html") for name in sizes) <= MOST_PAGES
    assert sum(sizes.values()) <= MOST_BYTES
    assert {name: size for name, size in sizes.items() if size > MOST_OF_A_PAGE} == {}


def test_pages_ask_for_nothing_from_elsewhere() -> None:
    for name, tree in trees().items():
        sources = [element.get("src") or element.get("href") for element in tree.xpath("//script | //link | //img")]
        assert sorted(sources) == ["script.js", "search.js", "style.css"], name
        assert all(script.get("defer") is not None for script in tree.iterfind(".//script")), name  # no page waits


def test_every_page_has_one_title_and_the_parts_that_readers_of_screens_go_by() -> None:
    for name, tree in trees().items():
        assert [len(tree.findall(f".//{tag}")) for tag in ("h1", "main", "header", "head/title")] == [1, 1, 1, 1], name
    titles = Counter(tree.findtext(".//title") for tree in trees().values())
    assert [title for title, count in titles.items() if count > 1] == []


def test_the_bytes_are_the_same_whatever_the_hash_seed() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    hashes = {
        subprocess.run(
            [sys.executable, "-c", HASH],
            env={**environment, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert len(hashes) == 1
    assert len(hashes.pop()) == len(hashlib.sha256().hexdigest())


def test_neighbours_are_those_before_and_after() -> None:
    names = ("BATCH_NORMALIZATION", "GEMM", "LP_NORMALIZATION")
    records = [operator_record(load_spec(f"DML_OPERATOR_{name}")) for name in names]
    normalizations = ("BATCH_NORMALIZATION", "LP_NORMALIZATION")
    assert list(neighbours(records)) == [
        ("Normalization", normalizations, None, "GEMM"),
        ("Matrix products", ("GEMM",), "BATCH_NORMALIZATION", "LP_NORMALIZATION"),
        ("Normalization", normalizations, "GEMM", None),
    ]


def test_every_field_and_enumeration_is_in_the_alphabet_of_the_home_page() -> None:
    specs = [load_spec(name) for name in operator_names()]
    links = trees()["index.html"].xpath("//h2[@id='names']/following-sibling::ul[1]//a")
    found = [link.text_content() for link in links]
    enums = {field.enum for spec in specs for field in spec.fields.values() if field.enum}
    assert found == sorted({name for spec in specs for name in spec.fields} | enums, key=str.lower)
    addresses = dict(zip(found, (link.get("href") for link in links), strict=True))
    assert (addresses["GroupCount"], addresses["DML_AXIS_DIRECTION"]) == (
        "convolution.html#GroupCount",
        "argmax.html#AxisDirection",
    )


# ---- the entries of the site's search, and its script


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


# ---- the guide as pages of the site


def of(text: str) -> GuidePage:
    return guide_page("guide-a.html", text)


def test_a_page_has_its_title_its_first_paragraph_and_its_sections() -> None:
    found = of("# A `page`\n\nIt says\nthis. And that.\n\n## One\n\n### Deeper\n\n## Two & more\n")
    assert (found.title, found.summary) == ("A page", "It says this. And that.")
    assert found.sections == (("one", "One"), ("two--more", "Two & more"))


@pytest.mark.parametrize(
    ("most", "expected"),
    [(30, "One is short. Two is longer."), (20, "One is short."), (5, "One is short.")],
)
def test_a_description_has_whole_sentences(most: int, expected: str) -> None:
    assert first_sentences("One is short. Two is longer.", most) == expected
    assert first_sentences("Without an end", 5) == "Without an end"


def test_headings_have_the_anchors_that_github_gives_them() -> None:
    body = of("# T\n\n## 1. Write the desc down\n\n## Same\n\n## Same\n").body
    assert '<h2 id="1-write-the-desc-down">' in body
    assert '<h2 id="same">' in body
    assert '<h2 id="same-1">' in body


@pytest.mark.parametrize(
    ("words", "anchor"),
    [("E_INVALIDARG: why?", "e_invalidarg-why"), ("`run` and `eval`", "run-and-eval"), ("A - B", "a---b")],
)
def test_an_anchor_is_in_lower_case_without_punctuation(words: str, anchor: str) -> None:
    assert slug(words) == anchor


def test_links_lead_to_the_pages_of_the_site() -> None:
    text = "[a](ci.md#gate) [b](README.md) [c](https://x.org/y.md) [d](#here) [e](../../cases) [f](code.md#tests)"
    body = of(text).body
    assert '<a href="guide-ci.html#gate">a</a>' in body
    assert '<a href="guide.html">b</a>' in body
    assert '<a href="https://x.org/y.md">c</a>' in body
    assert '<a href="#here">d</a>' in body
    assert "<a>e</a>" in body
    assert "<a>f</a>" in body


def test_markup_in_the_text_is_escaped() -> None:
    assert "&lt;script&gt;" in of("`<script>`").body


def test_wide_blocks_can_be_scrolled_by_keyboard() -> None:
    body = of("| a |\n|---|\n| b |\n\n```yaml\nx: 1\n```\n").body
    assert '<div class="wide" tabindex="0" role="region"' in body
    assert '<pre tabindex="0" aria-label="Code">' in body


def test_regions_of_tables_have_names_of_their_own() -> None:
    body = of("| a |\n|---|\n| b |\n\nText.\n\n| c |\n|---|\n| d |\n").body
    assert [body.count(f'aria-label="Table {number}"') for number in (1, 2, 3)] == [1, 1, 0]


def test_the_site_has_the_pages_for_users() -> None:
    addresses = [page.address for page in guide_pages()]
    assert {"guide.html", "guide-tutorial.html", "rules.html"} <= set(addresses)
    assert "guide-code.html" not in addresses


def test_the_body_is_the_only_value_that_is_marked_as_markup() -> None:
    values = guide_values(of("# T\n\nA & B\n"), lambda text: ("markup", text))
    assert values["body"][0] == "markup"
    assert values["summary"] == "A & B"


VALUES = {"title": "<A>", "summary": '"b"', "section": "", "version": "1", "sections": (), "address": "a", "body": "&"}


def test_values_are_escaped() -> None:
    found = render("guide.html", VALUES)
    assert "<title>&lt;A&gt; · DirectML reference</title>" in found
    assert 'content="&#34;b&#34;"' in found
    assert "&amp;" in found


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("guide.html", {"title": "A"})


def test_a_name_breaks_after_underscores_and_before_capitals() -> None:
    assert breakable("DML_<A>") == "DML_<wbr>&lt;A&gt;"
    assert breakable("OutputTensor") == "Output<wbr>Tensor"
    assert breakable("FLOAT32") == "FLOAT32"


def test_names_in_backticks_are_code() -> None:
    assert prose("Set `a < b`, or `c`.") == "Set <code>a &lt; b</code>, or <code>c</code>."
    assert prose("one ` alone & <b>") == "one ` alone &amp; &lt;b&gt;"


def test_a_hyphen_that_stands_for_a_minus_is_one() -> None:
    assert with_minus("from -Alpha to (-1), x - 2 {-0.5}") == "from \u2212Alpha to (\u22121), x \u2212 2 {\u22120.5}"
    kept = "half-pixel 1e-5 --strict t-1 2018-12-05 2^-21 A-"
    assert with_minus(kept) == kept
    assert prose("`-1` is -1") == "<code>-1</code> is \u22121"


def test_addresses_and_threads_are_links() -> None:
    assert linked("<a/b#12>; page 4") == '&lt;<a href="https://github.com/a/b/issues/12">a/b#12</a>&gt;; page 4'
    assert linked("c.d/e-f#3, https://g.h/i#j; k") == (
        '<a href="https://github.com/c.d/e-f/issues/3">c.d/e-f#3</a>, <a href="https://g.h/i#j">https://g.h/i#j</a>; k'
    )


def test_style_and_script_are_files() -> None:
    assert ".frame" in file_text("style.css")
    assert len(file_text("script.js")) < 10_000


# ---- the facts of a record that a page says in words


def test_each_leaf_has_its_place() -> None:
    record = {"when": {"Function": ["MIN", "MAX"]}, "since": "4_1", "exact": True, "ulp": 1.5}
    assert list(leaves(record, "row.0")) == [
        ("row.0.when.Function", "MIN MAX"),
        ("row.0.since", "4_1"),
        ("row.0.exact", "true"),
        ("row.0.ulp", "1.5"),
    ]


# ---- addresses of the site's pages


def test_an_operator_has_one_address_by_either_name() -> None:
    assert address_of_operator("DML_OPERATOR_GEMM") == address_of_operator("GEMM") == "gemm.html"


def test_rules_levels_and_types_have_addresses_of_their_own_kind() -> None:
    found = [address_of_rule("size-mismatch"), address_of_level("4_1"), address_of_type("FLOAT32")]
    assert found == ["rule-size-mismatch.html", "level-4_1.html", "type-float32.html"]


@pytest.mark.parametrize(
    ("file", "address"),
    [
        ("ci.md", "guide-ci.html"),
        ("README.md", "guide.html"),
        ("rules.md", "rules.html"),
        ("code.md", None),
        ("harness.cpp", None),
        ("../../README", None),
    ],
)
def test_a_page_of_the_guide_has_an_address_if_the_site_has_it(file: str, address: str | None) -> None:
    assert address_of_guide_page(file) == address
