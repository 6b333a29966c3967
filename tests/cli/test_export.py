"""`export` on the command line: what it says of cases that go and of those that stay."""

from __future__ import annotations

from pathlib import Path

from commandline import DESC, GOOD, dmlcheck, json_of, many, write


def test_how_many_cases_went_to_how_many_models_is_said_and_why_others_did_not() -> None:
    write("f/a.yaml", many(3))
    write("f/b.yaml", DESC)
    result = dmlcheck("export", "--to", "dxdispatch", "f", "-o", "out")
    assert result.exit_code == 0
    # Cases that are alike share a model.
    assert result.stdout.splitlines() == [
        "3 cases exported to 1 model in out",
        "1 case not exported: a plain desc: nothing to run",
    ]
    assert len(json_of("out/manifest.json")["entries"]) > 0


def test_a_case_that_is_not_legal_fails_the_export_and_the_others_go() -> None:
    write("f/a.yaml", GOOD)
    write("f/b.yaml", GOOD.replace("Axes: [0]", "Axes: [1]"))
    result = dmlcheck("export", "--to", "dxdispatch", "f", "-o", "out")
    assert result.exit_code == 1
    assert result.stdout.startswith("1 case exported to 1 model in out\n1 case not exported: it is not valid\n")
    assert "f/b.yaml:6:10: error[axis-out-of-range]" in result.stderr


def test_nothing_to_export_makes_no_folder() -> None:
    write("a.yaml", GOOD)
    result = dmlcheck("export", "--to", "dxdispatch", "a.yaml", "-k", "nowhere", "-o", "out")
    assert (result.exit_code, result.stdout, result.stderr) == (5, "", "dmlcheck: no cases to export\n")
    assert not Path("out").exists()


def test_strides_that_span_far_more_than_the_elements_take_are_no_reason_to_write_megabytes(folder: Path) -> None:
    wide = GOOD.replace("InputTensor: {DataType: FLOAT32, Sizes: [3]}", WIDE)
    write("a.yaml", wide)
    result = dmlcheck("export", "--to", "dxdispatch", "a.yaml", "-o", "out")
    assert "not exported: the strides of InputTensor spread 3 elements over 0.1 GiB" in result.stdout
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 10_000
    # The engine has no use for the gaps.
    assert dmlcheck("run", "a.yaml").exit_code == 0


WIDE = "InputTensor: {DataType: FLOAT32, Sizes: [3], Strides: [16777216]}"
