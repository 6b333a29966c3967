"""`show` on the command line."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from commandline import dmlcheck
from guide_pages import PAGES
from shipped import CASES

from dmlcheck.specs.load import load_spec, operator_names


def test_a_name_of_onnx_or_webnn_shows_the_operator_that_computes_it() -> None:
    notice, blank, *page = dmlcheck("show", "Conv").stdout.splitlines()
    assert (notice, blank) == ("Conv is ONNX's name; see CONVOLUTION", "")
    assert page == dmlcheck("show", "CONVOLUTION").stdout.splitlines()
    assert "  in ONNX: Conv, ConvTranspose, com.microsoft.NhwcConv, com.microsoft.ConvTransposeWithDynamicPads" in page
    assert "  in WebNN: conv2d, convTranspose2d" in page
    assert dmlcheck("show", "conv2d").stdout.startswith("conv2d is WebNN's name; see CONVOLUTION\n")
    both = "Softmax is ONNX's name and softmax is WebNN's name; see ACTIVATION_SOFTMAX1\n"
    assert dmlcheck("show", "SOFTMAX").stdout.startswith(both)
    assert json.loads(dmlcheck("show", "Conv", "--format", "json").stdout)["operator"] == "DML_OPERATOR_CONVOLUTION"
    assert dmlcheck("show", "MatMul", "--errata").stdout == dmlcheck("show", "GEMM", "--errata").stdout


def test_a_name_of_several_operators_lists_them() -> None:
    assert dmlcheck("show", "Resize").stdout.splitlines() == [
        "Resize is ONNX's name; see RESAMPLE2 or RESAMPLE3",
        "",
        "operator                from",
        "DML_OPERATOR_RESAMPLE2  5_1",
        "DML_OPERATOR_RESAMPLE3  6_4",
    ]
    read = json.loads(dmlcheck("show", "Resize", "--format", "json").stdout)["operators"]
    assert [one["operator"] for one in read] == ["DML_OPERATOR_RESAMPLE2", "DML_OPERATOR_RESAMPLE3"]


def test_a_name_that_is_another_operator_in_onnx_says_so() -> None:
    notice, _, *page = dmlcheck("show", "Slice").stdout.splitlines()
    assert notice == "ONNX's Slice is SLICE1; this is DirectML's SLICE"
    assert page == dmlcheck("show", "SLICE").stdout.splitlines()


def test_what_differs_from_onnx_is_shown_with_its_source() -> None:
    lines = dmlcheck("show", "ACTIVATION_GELU").stdout.splitlines()
    start = lines.index("Differences from ONNX")
    assert lines[start + 1].startswith(
        "  -   com.microsoft.FastGelu: ONNX Runtime's FastGelu approximates Gelu by the tanh"
    )
    assert lines[start + 2].startswith("      Source: ONNX Runtime 1.24's DirectML provider")
    read = json.loads(dmlcheck("show", "ACTIVATION_GELU", "--format", "json").stdout)
    assert [difference["name"] for difference in read["differences"]] == ["com.microsoft.FastGelu", "Gelu"]
    assert read["names"] == {"ONNX": ["Gelu", "com.microsoft.Gelu", "com.microsoft.FastGelu"], "WebNN": ["gelu"]}


def test_the_errata_of_one_operator_are_among_those_of_all() -> None:
    own = dmlcheck("show", "GEMM", "--errata").stdout
    assert own.startswith("DML_OPERATOR_GEMM   https://")
    assert own.rstrip("\n") in dmlcheck("show", "--errata").stdout
    read = json.loads(dmlcheck("show", "--errata", "--format", "json").stdout)["errata"]
    mine = [erratum for erratum in read if erratum["operator"] == "DML_OPERATOR_GEMM"]
    assert mine == json.loads(dmlcheck("show", "GEMM", "--errata", "--format", "json").stdout)["errata"]
    keys = {"operator", "id", "kind", "page", "holds", "basis", "measured", "source"}
    assert [set(erratum) for erratum in mine] == [keys] * len(mine)


def test_errata_may_be_asked_for_by_their_kind() -> None:
    read = {
        kind: json.loads(dmlcheck("show", "--errata", *kind, "--format", "json").stdout)["errata"]
        for kind in ((), ("--kind", "error"), ("--kind", "silence"), ("--kind", "contradiction"))
    }
    every, *parts = read.values()
    assert sum(map(len, parts)) == len(every) > 500
    assert [{erratum["kind"] for erratum in part} for part in parts] == [{"error"}, {"silence"}, {"contradiction"}]
    assert "  E1  Microsoft's page (error): " not in dmlcheck("show", "GEMM", "--errata", "--kind", "silence").stdout
    alone = dmlcheck("show", "--kind", "error")
    assert (alone.exit_code, "--kind needs --errata" in alone.stderr) == (2, True)


def test_the_evidence_of_one_operator_is_among_that_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(CASES / "gemm", tmp_path / "cases" / "gemm")
    monkeypatch.setattr("dmlcheck.formats.find.data_folder", lambda name: str(tmp_path / name))
    head, own, *_ = dmlcheck("show", "gemm", "--evidence").stdout.splitlines()
    assert (head.split()[:2], own.split()[0]) == (["operator", "results"], "GEMM")
    shown = re.split(r"^\$ dmlcheck show --evidence\n", PAGES["evidence.md"], flags=re.MULTILINE)[1]  # by test_guide
    rows = [row.split() for row in shown.splitlines()[1 : len(operator_names()) + 2]]
    names = [name.removeprefix("DML_OPERATOR_") for name in operator_names()]
    assert [row[0] for row in rows] == [*names, "all"]
    assert own.split() in rows
    (mine,) = json.loads(dmlcheck("show", "GEMM", "--evidence", "--format", "json").stdout)["operators"]
    assert int(own.split()[1].replace(",", "")) == mine["results"] == sum(mine["sources"].values()) > 50


def test_errata_and_evidence_are_asked_for_one_at_a_time() -> None:
    for names in (("--errata", "--evidence"), ("--evidence", "--bases"), ("--errata", "--bases", "--executed")):
        ran = dmlcheck("show", *names)
        assert (ran.exit_code, f"{' and '.join(names)}: ask for one at a time" in ran.stderr) == (2, True)


def test_bases_are_counted_of_all_operators_or_of_one() -> None:
    read = json.loads(dmlcheck("show", "--bases", "--format", "json").stdout)["bases"]
    own = json.loads(dmlcheck("show", "SLICE", "--bases", "--format", "json").stdout)["bases"]
    spec = load_spec("DML_OPERATOR_SLICE")
    assert sum(row["constraints"] for row in own) == len(spec.constraints)
    assert all(row["errata"] <= every["errata"] for row, every in zip(own, read, strict=True))
    printed = dmlcheck("show", "SLICE", "--bases").stdout.splitlines()
    assert printed[0].split() == ["basis", "constraints", "accepted", "errata"]
    assert printed[-3].split() == ["all", str(len(spec.constraints)), "0", str(len(spec.errata))]


def test_what_agrees_with_directml_is_said_of_all_operators_or_of_one() -> None:
    read = json.loads(dmlcheck("show", "--executed", "--format", "json").stdout)["operators"]
    own = json.loads(dmlcheck("show", "ACTIVATION_RELU", "--executed", "--format", "json").stdout)["operators"]
    page = json.loads(dmlcheck("show", "ACTIVATION_RELU", "--format", "json").stdout)
    assert [one["operator"] for one in read] == list(operator_names())
    assert own == [{"operator": "DML_OPERATOR_ACTIVATION_RELU", "executed": page["executed"]}]
    assert own[0] in read
    newest = page["executed"][0]
    title, head, counts, *_ = dmlcheck("show", "ACTIVATION_RELU", "--executed").stdout.splitlines()
    assert title == f"DirectML {newest['directml']}, {newest['device']}, {newest['date']}"
    assert head.split()[:3] == ["operator", "cases", "agreed"]
    assert counts.split()[:3] == ["ACTIVATION_RELU", str(newest["cases"]), str(newest["agreed"])]
    said = f"{newest['agreed']} of {newest['cases']} cases agree with DirectML {newest['directml']} itself"
    assert said in dmlcheck("show", "ACTIVATION_RELU").stdout
