"""The head of the page, the filters, its policy and its colours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from html_pages import case, check, report
from results import failed

from dmlcheck.reports.html.page import Assets
from dmlcheck.reports.html.report import HtmlReport
from dmlcheck.reports.records import RunInfo, Tally
from dmlcheck.running.results import OUTCOMES, CaseResult
from dmlcheck.running.settings import Settings


def test_the_page_asks_for_nothing(page: str) -> None:
    read = check(page)
    assert "http" not in page.replace("http-equiv", "")
    assert "@import" not in page
    assert "url(" not in page
    links = [value for _, name, value in read.attributes if name in ("src", "href", "action", "srcset", "style")]
    assert [link for link in links if not link.startswith("#") and link != "data:,"] == []
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "unsafe" not in page


def test_every_outcome_is_counted_and_can_be_chosen(page: str) -> None:
    read = check(page)
    chosen = [value for tag, name, value in read.attributes if (tag, name) == ("input", "value")]
    assert chosen == ["passed", "checked", *OUTCOMES[1:]]
    labels = ["passed", "descs checked", *OUTCOMES[1:]]
    for label, number in zip(labels, (1, 1, 5, 2, 1, 1, 1), strict=True):
        assert f"<b>{number}</b> {label}</label>" in page
    assert "REDUCE 1 1 5 2 1 0 0 infinite ULP" in read.text
    assert "GEMM 0 0 0 0 0 1 1 2097152 ULP" in read.text


def test_the_head_tells_implementation_level_shard_and_interruption(tmp_path: Path) -> None:
    text = report(
        tmp_path / "a.html",
        [CaseResult(case(), "passed")],
        interrupted=True,
        settings=Settings("4_1", "FLOAT16", inputs="TF32"),
        shard=(2, 3),
        version="1.2",
        device="GPU 0",
    )
    read = check(text)
    assert "No failures in 1 case" in read.text
    assert "DML_FEATURE_LEVEL_4_1 (DirectML 1.7.0)" in read.text
    assert "Shard 2 of 3" in read.text
    assert "Implementation reference 1.2 (GPU 0)" in read.text
    assert "Cases 1 Accumulation FLOAT16 Inputs of products TF32" in read.text
    assert "Interrupted: the run ended before all its cases had run." in read.text


def test_descs_that_dmlcheck_alone_checked_stand_apart(tmp_path: Path) -> None:
    results = [CaseResult(case(), "passed"), *[CaseResult(case(f"b{n}"), "passed", is_unrun=True) for n in range(2)]]
    text = report(tmp_path / "a.html", results)
    read = check(text)
    assert "<b>1</b> passed</label>" in text
    assert '<input type="checkbox" name="outcome" value="checked"><b>2</b> descs checked</label>' in text
    assert "operator passed descs checked failed error skipped" in read.text
    assert "Descs checked 2" in read.text
    assert "Passed 1" in read.text


def test_a_run_in_which_nothing_was_computed_is_no_good_one(tmp_path: Path) -> None:
    tally = Tally(is_of_reference=False)
    page = HtmlReport(str(tmp_path / "a.html"), RunInfo("onnxruntime"))
    result = CaseResult(case(), "passed", is_unrun=True)
    tally.add(result)
    page.case(result)
    page.finish(tally.summary(1.0))
    assert '<h1 class="none">Nothing was computed in 1 case</h1>' in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_the_head_counts_the_failures_that_rounded_inputs_explain(tmp_path: Path) -> None:
    text = report(tmp_path / "a.html", [failed(consistent="TF32"), failed()])
    assert "Consistent with TF32 inputs 1 failure" in check(text).text


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    wide = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * wide[0] + 0.7152 * wide[1] + 0.0722 * wide[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_schemes(scheme: str) -> None:
    light, dark = Assets().style.split("@media (prefers-color-scheme: dark)")
    known = {**colours(light), **(colours(dark) if scheme == "dark" else {})}
    for ink in ("ink", "quiet", "link", "red", "orange", "green", "purple"):
        for paper in ("page", "card", "inset", "hit"):
            low, high = sorted((luminance(known[ink]), luminance(known[paper])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)
    low, high = sorted((luminance(known["ink"]), luminance(known["mark"])))
    assert (high + 0.05) / (low + 0.05) >= 4.5
