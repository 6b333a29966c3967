"""Files that anybody may have written, and command lines: no command ends with a traceback, hangs, or takes all memory.

First the seeds: what once broke a command. Then what hypothesis makes of valid files, for `--fuzz-seconds` in all.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fuzzing import SPARE, Job, as_json, fuzz, run, spoilt, trees
from hypothesis import strategies as st

from dmlcheck.cli import main

F32 = {"DataType": "FLOAT32", "Sizes": [2, 3]}
SUM = {
    "operator": "REDUCE",
    "desc": {
        "Function": "SUM",
        "InputTensor": F32,
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 1]},
        "Axes": [1],
    },
    "inputs": {"InputTensor": [[1, 2, 3], [4, 5, 6]]},
    "outputs": {"OutputTensor": [6, 15]},
}
ADD1 = {
    "name": "add",
    "operator": "DML_OPERATOR_ELEMENT_WISE_ADD1",
    "feature_level": "5_0",
    "desc": {"ATensor": F32, "BTensor": {**F32, "Strides": [3, 1], "Flags": ["OWNED_BY_DML"]}, "OutputTensor": F32,
             "FusedActivation": {"Type": "ACTIVATION_LINEAR", "Alpha": 2, "Beta": 1}},
    "inputs": {"ATensor": {"sequence": {"start": 1, "step": 0.5}}, "BTensor": {"random": {"seed": 1, "low": -1,
     "high": 1}}},
}  # fmt: skip
FILE = {
    "operator": "JOIN",
    "source": "a page",
    "tags": ["x"],
    "desc": {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [4, 3]}, "Axis": 0},
    "cases": [
        {"name": "join", "desc": {"InputTensors": [F32, F32]}, "inputs": {"InputTensors": [{"fill": 1},
         {"file": "x.npy"}]},
         "tolerance": {"ulp": 1}, "outputs": {"OutputTensor": {"fill": 1}}},
        {"name": "axis", "desc": {"InputTensors": [F32, F32], "Axis": "${A}"}, "matrix": {"A": [2, 3]},
         "invalid": ["axis-out-of-range"]},
        ADD1,
        {"name": "bits", **SUM, "inputs": {"InputTensor": {"bits": [0, 1, 2, 3, 4, 5]}},
         "outputs": {"OutputTensor": ["any", "0x1p-126"]}},
    ],
}  # fmt: skip
MODEL = {
    "resources": {
        "in": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4, 5, 6]},
        "const": {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "x.npy"}},
        "out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}},
        "list": {"initialValues": [{"name": "a", "type": "FLOAT32", "value": 1}], "sizeInBytes": 24},
    },
    "dispatchables": {"add": {"type": "DML_OPERATOR_ELEMENT_WISE_ADD", "desc": {"ATensor": F32, "BTensor": F32,
     "OutputTensor": F32}}},
    "commands": [
        {"type": "dispatch", "dispatchable": "add", "bindings": {"ATensor": "in", "BTensor": {"name": "const"},
         "OutputTensor": "out"}},
        {"type": "print", "resource": "out"},
        {"type": "writeFile", "resource": "out", "targetPath": "y.npy", "dimensions": [2, 3]},
    ],
}  # fmt: skip
KNOWN = [
    {"cases": "a.json::*", "expect": "failed", "reason": "r", "implementation": "ref*", "feature_level": "6_4"},
    {"cases": "*", "expect": "skipped", "reason": "r", "link": "https://example.org", "expires": "9999-12-31"},
]
NPY = (
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(127) + b"\n" + bytes(24)
)

OF_NOTHING = NPY[:10] + b"{'descr': '<V0', 'fortran_order': False, 'shape': (3, 2)}".ljust(117) + b"\n"
VALIDATE = [["validate", "a.json", "--format", form] for form in ("text", "json", "sarif", "github")]
REPORTS = ["--json", "r.json", "--junitxml", "r.xml", "--html", "r.html", "--sarif", "r.sarif", "-v"]
RUN = ["run", "a.json", *REPORTS]
OTHERS = [["validate", "a.json", "--all-levels"], ["eval", "a.json"], ["coverage", "a.json"]]
EXPORTS = [["export", "--to", form, "a.json", "-o", f"out-{form}"] for form in ("dxdispatch", "onnx")]
OF_CASES = [*VALIDATE, RUN, *OTHERS, *EXPORTS]
OF_MODELS = [*OF_CASES, ["import", "dxdispatch", "a.json", "-o", "cases"]]
OF_REPORTS = [
    ["merge", "r.json", "--json", "all.json", "--junitxml", "r.xml", "--html", "r.html", "--sarif", "r.sarif", "-v"],
    ["run", "a.json", "--compare-to", "r.json", "--max-drift", "1"],
    ["expectations", "update", "r.json", "known.json", "--add", "--reason", "x"],
    *(["compare", "r.json", "earlier.json", "--format", form] for form in ("text", "json", "markdown")),
    ["compare", "earlier.json", "r.json", "--max-drift", "1", "-v"],
]
OF_KNOWN = [
    ["run", "a.json", "--expectations", "known.json"],
    ["expectations", "update", "r.json", "known.json"],
    ["expectations", "update", "r.json", "known.json", "--add", "--reason", "\n::error::"],
]
OF_MANIFESTS = [
    ["run", "a.json", "--implementation", "recorded:out"],
    ["export", "--to", "dxdispatch", "a.json", "-o", "out"],
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, on a machine with little memory to spare."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dmlcheck.values.memory.available_bytes", lambda: SPARE)
    monkeypatch.setattr("dmlcheck.formats.find.data_folder", lambda _: str(tmp_path))  # where no path is named


def with_npy(data: bytes, npy: bytes = NPY) -> dict[str, bytes]:
    """Return the file of a job, with the tensor that it may name."""
    return {"a.json": data, "x.npy": npy}


def made(*command: str) -> dict[str, bytes]:
    """Return the files that a command writes beside a good file."""
    Path("a.json").write_bytes(as_json(FILE))
    Path("x.npy").write_bytes(NPY)
    CliRunner().invoke(main, command, catch_exceptions=False)
    return {path.as_posix(): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


# ---- what once broke a command

BROKEN = {"FLOAT3": {"DataType": "FLOAT3", "Sizes": ["${A}", 0]}, "Sizs": {"DataType": "FLOAT32", "Sizs": ["${B}", 1]}}
SEEDS: dict[str, Callable[[], Job]] = {
    "a matrix of broken descs": lambda: Job(
        with_npy(
            as_json(
                {
                    "operator": "ELEMENT_WISE_ADD",
                    "matrix": {name: list(range(20)) for name in "ABC"},
                    "desc": {"ATensor": BROKEN["FLOAT3"], "BTensor": BROKEN["Sizs"], "OutputTensor": F32, "${C}": 0},
                }
            )
        ),
        [*VALIDATE[:2], RUN],
    ),
    "stars of an expectation": lambda: Job(
        {
            "a.json": as_json({**SUM, "name": "a" * 60}),
            "known.json": as_json([{"cases": "*a" * 14 + "b", "expect": "failed", "reason": "x"}]),
        },
        OF_KNOWN[:1],
    ),
    "sizes that are small and strides that are not": lambda: Job(
        with_npy(
            as_json({**ADD1, "desc": {**ADD1["desc"], "BTensor": {**F32, "Strides": [2**28, 1]}}})  # type: ignore[dict-item]
        ),
        [RUN, *OTHERS, *EXPORTS],
    ),
    "the header of an array that is no literal": lambda: Job(
        with_npy(as_json(FILE), NPY.replace(b"{'descr': '<f4'", b"{'descr': f('f')")), [RUN, ["eval", "a.json"]]
    ),
    "the header of an array with half a pair": lambda: Job(
        with_npy(as_json(FILE), NPY.replace(b"'<f4', ", b"('<f4',),")), [RUN, ["eval", "a.json"]]
    ),
    "an array of elements of no bytes": lambda: Job(
        with_npy(as_json(MODEL), OF_NOTHING),
        [["eval", "a.json"]],
    ),
    "a manifest with a number of files": lambda: Job(
        {
            "a.json": as_json(SUM),
            "out/manifest.json": b'{"schema": "dmlcheck-export/1", "format": "dxdispatch", "files": 3}',
        },
        OF_MANIFESTS,
    ),
    "a shard of very many": lambda: Job(
        {
            "r.json": made("run", "a.json", "--shard", "1/1", "--json", "r.json")["r.json"].replace(
                b'"count": 1', b'"count": 9223372036854775808'
            )
        },
        [["merge", "r.json"]],
    ),
    "halves of surrogate pairs": lambda: Job(
        with_npy(as_json({**SUM, "name": "\ud800", "source": "\udfff", "note": "\udcff", "tags": ["\ud800"]})),
        [*OF_CASES, [*RUN, "--shard", "1/1"], ["merge", "r.json", "--html", "m.html", "--junitxml", "m.xml"]],
    ),
    "a path with half of a surrogate pair": lambda: Job(
        with_npy(as_json({**SUM, "inputs": {"InputTensor": {"file": "\ud800.npy"}}})),
        [RUN, *EXPORTS, ["eval", "a.json"]],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_what_once_broke_a_command_does_not(name: str) -> None:
    run(SEEDS[name]())


# ---- what is made of valid files


def case_trees() -> st.SearchStrategy[Job]:
    """Draw case files by their grammar."""
    command = st.sampled_from([RUN, *OTHERS, *EXPORTS, *VALIDATE])
    return st.builds(lambda tree, words: Job(with_npy(as_json(tree)), [words]), trees([FILE, SUM, ADD1]), command)


def case_bytes() -> st.SearchStrategy[Job]:
    """Draw case files by their bytes, as YAML and as JSON."""
    texts = [as_json(FILE), json.dumps(FILE, indent=1).encode(), YAML.encode()]

    def job(data: bytes, words: list[str], ending: str) -> Job:
        name = f"a.{ending}"
        return Job({name: data, "x.npy": NPY}, [[word.replace("a.json", name) for word in words]])

    return st.builds(job, spoilt(texts), st.sampled_from([RUN, *OTHERS, *VALIDATE]), st.sampled_from(["json", "yaml"]))


YAML = """\
operator: DML_OPERATOR_ARGMAX  # a comment
feature_level: 4.1
desc: &d
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
cases:
  - name: "columns"
    desc: {OutputTensor: {DataType: UINT32, Sizes: [1, 3]}, Axes: [0], AxisDirection: INCREASING}
    inputs: {InputTensor: [[1, 2, 3], [.inf, -.5, 0x4], ['0x1.8p+1', 1e-5, nan]]}
    outputs:
      OutputTensor: [[1, 2, 1]]
  - name: early
    note: |
      lines
    invalid: [unsupported-data-type]
    desc: {InputTensor: {DataType: INT64, Sizes: [3]}, OutputTensor: {DataType: UINT32, Sizes: [1]}, Axes: [0]}
"""


def expectation_trees() -> st.SearchStrategy[Job]:
    """Draw files of known results."""
    files = made("run", "a.json", "--json", "r.json")
    return st.builds(
        lambda tree, words: Job({**files, "known.json": as_json(tree)}, [words]),
        trees([KNOWN]),
        st.sampled_from(OF_KNOWN),
    )


def report_trees() -> st.SearchStrategy[Job]:
    """Draw reports."""
    files = made("run", "a.json", "--shard", "1/1", "--json", "r.json")
    report = json.loads(files["r.json"])
    return st.builds(
        lambda tree, words: Job(
            {**files, "earlier.json": files["r.json"], "r.json": as_json(tree), "known.json": b"[]"}, [words]
        ),
        trees([report]),
        st.sampled_from(OF_REPORTS),
    )


def manifest_trees() -> st.SearchStrategy[Job]:
    """Draw manifests of exports."""
    files = made("export", "--to", "dxdispatch", "a.json", "-o", "out")
    manifest = json.loads(files["out/manifest.json"])
    entry = manifest["entries"][0]["folder"]
    files[f"out/{entry}/exit-code.txt"] = b"0"
    return st.builds(
        lambda tree, words: Job({**files, "out/manifest.json": as_json(tree)}, [words]),
        trees([manifest]),
        st.sampled_from(OF_MANIFESTS),
    )


DESCRS = """
'<f4' '>i2' '|O' '<V0' '<M8[s]' ('<f4',) ('<f4',(2,)) [('a','<f4')] [[]] {} None 3 b'<f4' f() '<f4'.x 1j
"""
SHAPES = """
(2,3) (6,) (-1,) (2**70,) (9223372036854775807,2) (18446744073709551616,0) (True,) [2] 2 () (1,)*99 ((1,),)
"""


def headers() -> st.SearchStrategy[bytes]:
    """Draw .npy files by their headers; elements of no bytes are few, since NumPy makes as many as they claim."""

    def npy(descr: str, shape: str, order: str) -> bytes:
        shape = "(2,3)" if descr == "'<V0'" else shape
        header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}".encode()
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24)

    return st.builds(
        npy,
        st.sampled_from(DESCRS.split()),
        st.sampled_from(SHAPES.split()),
        st.sampled_from(["False", "True", "1", "[]"]),
    )


def arrays() -> st.SearchStrategy[Job]:
    """Draw .npy files, for a case and for a model."""
    case = {**SUM, "inputs": {"InputTensor": {"file": "x.npy"}}}
    commands = st.sampled_from([["run", "a.json"], ["eval", "a.json"]])
    return st.builds(
        lambda npy, tree, words: Job(with_npy(as_json(tree), npy), [words]),
        headers() | spoilt([NPY]),
        st.sampled_from([case, MODEL]),
        commands,
    )


def model_trees() -> st.SearchStrategy[Job]:
    """Draw DxDispatch models."""
    command = st.sampled_from(OF_MODELS)
    return st.builds(lambda tree, words: Job(with_npy(as_json(tree)), [words]), trees([MODEL]), command)


PLAIN = """
run validate eval show explain schema merge compare expectations update diff coverage export import --to dxdispatch onnx
-o out a.json r.json known.json x.npy . - -- a.json::join a.json::x --json --html --junitxml --sarif --format json text
github -k -x --max-failures 0 1 -j --timeout 1e999 nan --shard 1/1 2/1 --expectations --implementation reference
recorded: recorded:. dxdispatch: command: python: python:x:y --accumulate float16 --strict --warn-above --compare-to
--max-drift --feature-level 6_4 99 0x4100 4_1 GEMM gemm output-mismatch --all-levels --add --reason -v -q --help
--version /dev/null missing/x
"""
WORDS = [
    *PLAIN.split(),
    "9" * 30,
    "\udcff",
    "\n::error::",
    "\x1b[31m",
    "",
    "é",
    "(" * 200,
    "not " * 300,
    "not (a or b",
    "join and",
    "command:'",
]


def command_lines() -> st.SearchStrategy[Job]:
    """Draw command lines."""
    files = {**with_npy(as_json(FILE)), "r.json": b"{}", "known.json": b"[]"}
    words = st.lists(st.sampled_from(WORDS), max_size=7)
    starts = st.sampled_from([[word] for word in WORDS[:13]])
    return st.builds(lambda start, rest: Job(files, [[*start, *rest]]), starts, words)


KINDS: dict[str, Callable[[], st.SearchStrategy[Job]]] = {
    "case files": case_trees,
    "bytes of case files": case_bytes,
    "expectations": expectation_trees,
    "reports": report_trees,
    "manifests": manifest_trees,
    "arrays": arrays,
    "models": model_trees,
    "command lines": command_lines,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_made_of_valid_files_breaks_a_command(kind: str, request: pytest.FixtureRequest) -> None:
    seconds: float = request.config.getoption("--fuzz-seconds")
    first: int = request.config.getoption("--fuzz-seed")
    fuzz(KINDS[kind](), seconds / len(KINDS), first)


def test_a_command_that_breaks_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("x")

    monkeypatch.setattr("dmlcheck.running.legality.validated_file", broken)
    with pytest.raises(AssertionError, match="KeyError"):
        run(Job(with_npy(as_json(SUM)), VALIDATE))
