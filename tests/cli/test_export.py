"""`export` on the command line: what it says of cases that go and of those that stay."""

from __future__ import annotations

from pathlib import Path

from commandline import GOOD, dmlcheck, write


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
