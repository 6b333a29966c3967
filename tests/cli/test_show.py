"""`show` on the command line."""

from __future__ import annotations

import json

from commandline import dmlcheck

from dmlcheck.specs.load import operator_names


def test_without_an_operator_all_are_listed() -> None:
    head, *rows = dmlcheck("show").stdout.splitlines()
    assert head.split() == ["operator", "from"]
    assert [row.split()[0] for row in rows] == list(operator_names())


def test_an_operator_may_be_asked_for_in_any_case() -> None:
    assert dmlcheck("show", "gemm").stdout.startswith("DML_OPERATOR_GEMM   from DML_FEATURE_LEVEL_1_0")
    assert json.loads(dmlcheck("show", "gemm", "--format", "json").stdout)["operator"] == "DML_OPERATOR_GEMM"


def test_the_errata_of_one_operator_are_among_those_of_all() -> None:
    own = dmlcheck("show", "GEMM", "--errata").stdout
    assert own.startswith("DML_OPERATOR_GEMM   https://")
    assert own.rstrip("\n") in dmlcheck("show", "--errata").stdout
    read = json.loads(dmlcheck("show", "--errata", "--format", "json").stdout)["errata"]
    mine = [erratum for erratum in read if erratum["operator"] == "DML_OPERATOR_GEMM"]
    assert mine == json.loads(dmlcheck("show", "GEMM", "--errata", "--format", "json").stdout)["errata"]
    assert [set(erratum) for erratum in mine] == [{"operator", "id", "page", "holds", "source"}] * len(mine)


def test_the_evidence_of_one_operator_is_among_that_of_all() -> None:
    head, own, *_ = dmlcheck("show", "gemm", "--evidence").stdout.splitlines()
    assert (head.split()[:2], own.split()[0]) == (["operator", "results"], "GEMM")
    rows = dmlcheck("show", "--evidence").stdout.splitlines()
    assert [row.split()[0].replace("all", "") for row in rows[1 : len(operator_names()) + 2]] == [
        *(name.removeprefix("DML_OPERATOR_") for name in operator_names()),
        "",
    ]
    read = json.loads(dmlcheck("show", "--evidence", "--format", "json").stdout)["operators"]
    mine = [one for one in read if one["operator"] == "DML_OPERATOR_GEMM"]
    assert mine == json.loads(dmlcheck("show", "GEMM", "--evidence", "--format", "json").stdout)["operators"]
    assert int(own.split()[1].replace(",", "")) == mine[0]["results"] == sum(mine[0]["sources"].values()) > 50


def test_errata_and_evidence_are_asked_for_one_at_a_time() -> None:
    ran = dmlcheck("show", "--errata", "--evidence")
    assert (ran.exit_code, "one at a time" in ran.stderr) == (2, True)


def test_an_operator_may_be_asked_for_by_the_name_that_onnx_or_webnn_has_for_it() -> None:
    found = dmlcheck("show", "Conv", "--format", "json")
    assert json.loads(found.stdout)["operator"] == "DML_OPERATOR_CONVOLUTION"
    assert found.stderr == "Conv is ONNX's name; in DirectML it is CONVOLUTION\n"
    assert dmlcheck("show", "conv2d").stdout.startswith("DML_OPERATOR_CONVOLUTION   from")
