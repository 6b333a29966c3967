"""ONNX's backend tests as case files: its own, the round trip of the shipped cases, and models that are broken."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import yaml
from click.testing import CliRunner, Result

import dmlcheck as api
from dmlcheck import validation
from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.cli import main
from dmlcheck.descs.records import TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.formats.onnx import importer
from dmlcheck.running.one_case import run_cases

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.backend.test import loader  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from dmlcheck.formats.onnx.from_onnx.operators import OPERATORS  # noqa: E402

CASES = Path(__file__).parent.parent.parent.parent / "cases"
REDUCTIONS = ("argmax", "argmin", "reduce", "activation_hardmax", "activation_hardmax1")
REDUCING = ("Reduce", "ArgM", "Hardmax")


def dmlcheck(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def write_test(folder: Path, model: Any, *data_sets: tuple[list[Any], list[Any]]) -> Path:
    """Write a model and its data sets as ONNX does, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for number, data in enumerate(data_sets):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        for kind, values in zip(("input", "output"), data, strict=True):
            for index, value in enumerate(values):
                tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value))
                (place / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())
    return folder


def model_of(
    type: str, inputs: list[Any], outputs: list[Any], *, opset: int = 17, constants: int = 0, **attributes: Any
) -> Any:
    """Return a model of one operator for some values; the last inputs are constants of the model."""
    names = [[f"{kind}{index}" for index in range(len(values))] for kind, values in (("x", inputs), ("y", outputs))]
    given = len(inputs) - constants

    def infos(names: list[str], values: list[Any]) -> list[Any]:
        kinds = [helper.np_dtype_to_tensor_dtype(value.dtype) for value in values]
        return [
            helper.make_tensor_value_info(name, kind, value.shape)
            for name, kind, value in zip(names, kinds, values, strict=False)
        ]

    node = helper.make_node(type, *names, **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        infos(names[0][:given], inputs[:given]),
        infos(names[1], outputs),
        [numpy_helper.from_array(value, name) for name, value in zip(names[0][given:], inputs[given:], strict=True)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def imported(tmp_path: Path, type: str, inputs: list[Any], outputs: list[Any], **more: Any) -> tuple[Any, str]:
    """Import a test of one operator; return its case file as YAML reads it, or None, and what was printed."""
    constants = more.get("constants", 0)
    model = model_of(type, inputs, outputs, **more)
    folder = write_test(tmp_path / "test_one", model, (inputs[: len(inputs) - constants], outputs))
    result = dmlcheck("import", "onnx", folder, "-o", tmp_path / "imported")
    path = tmp_path / "imported" / "test_one.yaml"
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None), result.output


def floats(*values: Any) -> Any:
    return np.array(values, dtype=np.float32)


# ---- ONNX's own tests


@pytest.fixture(scope="module")
def node_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write ONNX's node tests of one operator that is imported: those of reductions, and a few of each other."""
    folder = tmp_path_factory.mktemp("node")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = loader.load_model_tests(kind="node")
    written: Counter[str] = Counter()
    for test in tests:
        (node, *others) = test.model.graph.node
        if not others and node.op_type in OPERATORS and "pool_" not in test.name:
            written[node.op_type] += 1
            if written[node.op_type] <= _MOST or node.op_type.startswith(REDUCING):
                write_test(folder / test.name, test.model, *test.data_sets)
    return folder


_MOST = 4  # tests of an operator


@pytest.fixture(scope="module")
def imported_tests(node_tests: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("imported") / "cases"
    result = dmlcheck("import", "onnx", node_tests, "-o", folder)
    assert result.exit_code == 0
    return folder, result.output


def test_onnxs_tests_of_reductions_pass_on_the_reference(node_tests: Path, imported_tests: tuple[Path, str]) -> None:
    folder, output = imported_tests
    tested = [path.name for path in node_tests.iterdir() if is_reduction(path)]
    there = {path.stem for path in folder.glob("*.yaml")}
    cases = [case for name in tested if name in there for case in api.load_cases(str(folder / f"{name}.yaml"))]
    assert Counter(result.outcome for result in run_cases(cases)) == {"passed": len(cases)}
    assert len(cases) > 100
    # What is left out has no counterpart: FLOAT64, which REDUCE does not read, and tensors without elements.
    for line in output.splitlines():
        if "left out" in line and any(f"/{name}/" in line for name in tested):
            assert "is FLOAT64, which DML_OPERATOR_REDUCE does not read" in line or "every size must be" in line


def is_reduction(folder: Path) -> bool:
    return str(onnx.load(folder / "model.onnx").graph.node[0].op_type).startswith(REDUCING)


def test_what_is_imported_is_still_the_operator_that_it_was(tmp_path: Path, imported_tests: tuple[Path, str]) -> None:
    """Let ONNX's evaluator run models that are made again of the imported descs, with the values of the tests."""
    folder = tmp_path / "again"
    dmlcheck("export", "--to", "onnx", imported_tests[0], "-o", folder)
    tests = [path.parent for path in sorted(folder.glob("*/model.onnx"))]
    assert len(tests) > 250
    wrong = [test.name for test in tests if not agrees(test)]
    assert wrong == []


def agrees(test: Path) -> bool:
    """Whether ONNX's evaluator gives the outputs of a test, within the tolerance of ONNX's runner."""
    model = onnx.load(test / "model.onnx")
    inputs, outputs = (
        [
            numpy_helper.to_array(onnx.load_tensor(test / "test_data_set_0" / f"{kind}_{index}.pb"))
            for index in range(len(values))
        ]
        for kind, values in (("input", model.graph.input), ("output", model.graph.output))
    )
    names = [value.name for value in model.graph.input]
    with np.errstate(all="ignore"):
        found = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    return all(
        own.dtype == wanted.dtype and own.shape == wanted.shape and np.allclose(own, wanted, 1e-3, 1e-6, equal_nan=True)
        for own, wanted in zip(found, outputs, strict=True)
    )


def test_an_imported_case_names_the_test_and_the_version_of_onnx_that_it_came_with(tmp_path: Path) -> None:
    data = Path(loader.DATA_DIR)
    result = dmlcheck("import", "onnx", data / "pytorch-operator" / "test_operator_exp", "-o", tmp_path / "imported")
    assert result.exit_code == 0, result.output
    value = yaml.safe_load((tmp_path / "imported" / "test_operator_exp.yaml").read_text(encoding="utf-8"))
    opset = onnx.load(data / "pytorch-operator" / "test_operator_exp" / "model.onnx").opset_import[0].version
    assert value["source"] == f"ONNX backend test test_operator_exp, opset {opset}, onnx {onnx.__version__}"


# ---- one operator at a time


def test_a_reduction_keeps_the_dimensions_that_onnx_drops(tmp_path: Path) -> None:
    inputs, outputs = [floats([1, 2, 3], [4, 5, 6])], [floats(6, 15)]
    case, _ = imported(tmp_path, "ReduceMax", inputs, [floats(3, 6)], opset=13, axes=[-1], keepdims=0)
    assert case == {
        "operator": "DML_OPERATOR_REDUCE",
        "source": "ONNX backend test test_one, opset 13",
        "desc": {
            "Function": "MAX",
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 1]},
            "Axes": [1],
        },
        "inputs": {"InputTensor": [[1, 2, 3], [4, 5, 6]]},
        "outputs": {"OutputTensor": [[3], [6]]},
    }
    shutil.rmtree(tmp_path / "test_one")
    axes = np.array([1], dtype=np.int64)
    case, _ = imported(tmp_path, "ReduceSum", [*inputs, axes], outputs, constants=1, keepdims=0)
    assert (case["desc"]["Function"], case["desc"]["Axes"]) == ("SUM", [1])


def test_broadcasting_is_a_stride_of_0_over_the_elements_that_are_there(tmp_path: Path) -> None:
    a, b = np.zeros((2, 3, 2), np.float32), floats([[10, 20]], [[30, 40]])
    case, _ = imported(tmp_path, "Add", [a, b], [a + b])
    assert case["desc"]["BTensor"] == {"DataType": "FLOAT32", "Sizes": [2, 3, 2], "Strides": [2, 0, 1]}
    assert case["inputs"]["BTensor"] == {"buffer": [10, 20, 30, 40]}
    (read,) = api.load_cases(str(tmp_path / "imported" / "test_one.yaml"))
    assert arrays(read)["BTensor"].tolist() == [[[10, 20]] * 3, [[30, 40]] * 3]


def test_attributes_that_are_left_out_have_the_defaults_of_their_opset(tmp_path: Path) -> None:
    x = np.zeros((2, 3, 4), np.float32)
    y = np.zeros((2, 3, 4), np.float32)
    y[:, 0, 0] = 1
    case, _ = imported(tmp_path, "Hardmax", [x], [y[:]], opset=11)
    assert case["desc"]["Axes"] == [1, 2]  # before opset 13, the axes from 1 on are one
    shutil.rmtree(tmp_path / "test_one")
    case, _ = imported(tmp_path, "Hardmax", [x], [y], opset=13)
    assert case["desc"]["Axes"] == [2]
    shutil.rmtree(tmp_path / "test_one")
    case, _ = imported(tmp_path, "LeakyRelu", [x], [x], opset=16)
    assert case["desc"]["Alpha"] == 0.01


@pytest.mark.parametrize(("last", "direction"), [(0, "INCREASING"), (1, "DECREASING")])
def test_the_last_of_equal_elements_is_the_first_from_the_end(tmp_path: Path, last: int, direction: str) -> None:
    indices = np.array([[2 if last else 0]])
    case, _ = imported(tmp_path, "ArgMax", [floats([7, 1, 7])], [indices], axis=1, select_last_index=last)
    assert case["desc"]["AxisDirection"] == direction
    (result,) = run_cases(api.load_cases(str(tmp_path / "imported" / "test_one.yaml")))
    assert result.outcome == "passed"


def test_truth_values_are_bytes(tmp_path: Path) -> None:
    a, b = np.array([True, False]), np.array([True, True])
    case, _ = imported(tmp_path, "And", [a, b], [a & b])
    assert case["desc"]["ATensor"]["DataType"] == "UINT8"
    assert case["outputs"]["OutputTensor"] == [1, 0]


@pytest.mark.parametrize(
    ("slices", "window"),
    [
        ((1, 4, 1), (1, 3, 1)),
        ((0, 5, 2), (0, 5, 2)),
        ((0, 4, 2), (0, 3, 2)),
        ((4, 0, -2), (2, 3, -2)),
        ((-1, -(2**31), -1), (0, 5, -1)),
        ((-3, 2**62, 1), (2, 3, 1)),
    ],
)
def test_a_slice_is_a_window_that_is_walked(
    tmp_path: Path, slices: tuple[int, int, int], window: tuple[int, int, int]
) -> None:
    x = floats(0, 1, 2, 3, 4)
    ends = [np.array([number]) for number in (slices[0], slices[1], 0, slices[2])]
    y = x[slices[0] : slices[1] : slices[2]]
    case, output = imported(tmp_path, "Slice", [x, *ends], [y], constants=4)
    assert case is not None, output
    names = ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")
    assert tuple(case["desc"][name][0] for name in names) == window


def test_larger_values_are_files_beside_the_case_file(tmp_path: Path) -> None:
    x = np.arange(1000, dtype=np.float32)
    case, _ = imported(tmp_path, "Neg", [x], [-x])
    assert case["inputs"]["InputTensor"] == {"file": "test_one/test_one.InputTensor.npy"}
    (read,) = api.load_cases(str(tmp_path / "imported" / "test_one.yaml"))
    assert (arrays(read)["InputTensor"] == x).all()


def test_nan_keeps_its_bits(tmp_path: Path) -> None:
    x = np.array([0x7FC00001, 0x3F800000], dtype=np.uint32).view(np.float32)
    imported(tmp_path, "Identity", [x], [x])
    (read,) = api.load_cases(str(tmp_path / "imported" / "test_one.yaml"))
    assert arrays(read)["InputTensor"].view(np.uint32).tolist() == [0x7FC00001, 0x3F800000]


def test_each_data_set_is_a_case(tmp_path: Path) -> None:
    x, y = floats(1, 2), floats(-1, -2)
    write_test(tmp_path / "test_one", model_of("Neg", [x], [y]), ([x], [y]), ([y], [x]))
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert "2 cases imported to test_one.yaml" in result.output
    cases = api.load_cases(str(tmp_path / "imported" / "test_one.yaml"))
    assert [(case.name, arrays(case)["InputTensor"].tolist()) for case in cases] == [
        ("test_one", [1, 2]),
        ("test_one-1", [-1, -2]),
    ]


# ---- the round trip


def arrays(case: Case) -> dict[str, Any]:
    """Return the values of a case's tensors, inputs and given outputs, by field."""
    prepared = prepare(case, case.level)
    assert prepared.findings == ()
    return {**prepared.inputs, **{name: array for name, (_, array) in prepared.expected.items()}}


def fields(case: Case) -> dict[str, Any]:
    desc, _ = validation.validate(case.operator, case.desc, case.level)
    assert desc is not None
    return {"operator": desc.spec.operator, **notation(desc)}


def same_values(one: dict[str, Any], other: dict[str, Any]) -> bool:
    assert one.keys() == other.keys()
    return all(
        own.dtype == wanted.dtype and own.shape == wanted.shape and own.tobytes() == wanted.tobytes()
        for own, wanted in zip(one.values(), other.values(), strict=True)
    )


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Case]]:
    """Export the shipped reductions; return the folder, and the case of each folder in it."""
    folder = tmp_path_factory.mktemp("export") / "exported"
    paths = [path for name in REDUCTIONS for path in sorted((CASES / name).iterdir()) if path.name != "large.yaml"]
    dmlcheck("export", "--to", "onnx", *paths, "-o", folder)
    cases = {case.id: case for path in paths for case in api.load_cases(str(path))}
    entries = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["entries"]
    return folder, {entry["folder"]: cases[entry["cases"][0]] for entry in entries}


def test_an_export_comes_back_as_the_same_cases(tmp_path: Path, exported: tuple[Path, dict[str, Case]]) -> None:
    folder, cases = exported
    assert len(cases) > 700
    dmlcheck("import", "onnx", folder, "-o", tmp_path / "back")
    for name, case in cases.items():
        (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
        assert fields(read) == fields(case), name
        assert same_values(arrays(read), arrays(case)), name
        kept = ("feature_level", "source", "tolerance", "tags", "note")
        assert [getattr(read, key) for key in kept] == [getattr(case, key) for key in kept], name


def test_models_that_do_not_say_what_they_were_come_back_where_they_have_one_operator(
    tmp_path: Path, exported: tuple[Path, dict[str, Case]]
) -> None:
    folder, cases = exported
    anonymous = tmp_path / "anonymous"
    for name in cases:
        model = onnx.load(folder / name / "model.onnx")
        if len(model.graph.node) == 1 and max(path.stat().st_size for path in (folder / name).rglob("*.pb")) < 2**16:
            del model.metadata_props[:]
            shutil.copytree(folder / name, anonymous / name)
            onnx.save(model, anonymous / name / "model.onnx")
    dmlcheck("import", "onnx", anonymous, "-o", tmp_path / "back")
    names = sorted(path.name for path in anonymous.iterdir())
    assert len(names) > 300
    for name in names:
        (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
        assert fields(read) == one_for_one(cases[name]), name
        given = arrays(cases[name])
        assert same_values({label: values for label, values in arrays(read).items() if label in given}, given), name


def one_for_one(case: Case) -> dict[str, Any]:
    """Return a case's fields as ONNX has them: packed, axes in order, and one name for what has two."""
    desc, _ = validation.validate(case.operator, case.desc, case.level)
    assert desc is not None
    tensors = {
        name: value._replace(strides=None, total_size=None, alignment=0, flags="NONE")
        for name, value in desc.values.items()
        if isinstance(value, TensorDesc)
    }
    wanted = {"operator": desc.spec.operator, **notation(desc._replace(values={**desc.values, **tensors}))}
    rank = len(desc.values["InputTensor"].sizes)
    if wanted["operator"] == "DML_OPERATOR_ACTIVATION_HARDMAX":
        wanted |= {"operator": "DML_OPERATOR_ACTIVATION_HARDMAX1", "AxisCount": 1, "Axes": [rank - 1]}
    if wanted.get("Function", "").startswith("ARG"):
        wanted |= {"operator": f"DML_OPERATOR_{wanted.pop('Function')}", "AxisDirection": "INCREASING"}
    return {**wanted, "Axes": sorted(wanted["Axes"])}


def test_a_model_that_was_changed_after_its_export_is_what_it_is_now(
    tmp_path: Path, exported: tuple[Path, dict[str, Case]]
) -> None:
    folder, cases = exported
    name = next(name for name, case in cases.items() if case.desc.get("Function") == "MIN")
    shutil.copytree(folder / name, tmp_path / name)
    model = onnx.load(folder / name / "model.onnx")
    model.graph.node[0].op_type = "ReduceMax"
    onnx.save(model, tmp_path / name / "model.onnx")
    dmlcheck("import", "onnx", tmp_path / name, "-o", tmp_path / "back")
    (read,) = api.load_cases(str(tmp_path / "back" / f"{name}.yaml"))
    assert read.desc["Function"] == "MAX"


# ---- what cannot be imported


def left_out(tmp_path: Path, *arguments: Any, **more: Any) -> str:
    case, output = imported(tmp_path, *arguments, **more)
    assert case is None
    return output


def test_an_operator_without_counterpart_is_named(tmp_path: Path) -> None:
    x = floats(1, 2)
    assert "Mish is not one of the operators" in left_out(tmp_path, "Mish", [x], [x], opset=18)


def test_a_type_that_the_operator_does_not_read_is_named(tmp_path: Path) -> None:
    x = np.array([1.0, 2.0])
    output = left_out(tmp_path, "Exp", [x], [np.exp(x)])
    assert "left out: DML_OPERATOR_ELEMENT_WISE_EXP does not take it: InputTensor is FLOAT64" in output


def test_more_dimensions_than_directml_has_are_named(tmp_path: Path) -> None:
    x = np.ones((1,) * 9, np.float32)
    assert "InputTensor has 9 dimensions" in left_out(tmp_path, "Exp", [x], [x])


def test_text_is_no_tensor_of_directml(tmp_path: Path) -> None:
    x = np.array(["a", "b"], dtype=object)
    model = model_of("Neg", [floats(1, 2)], [floats(1, 2)])
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = TensorProto.STRING
    write_test(tmp_path / "test_one", model, ([x], [x]))
    assert "x0 is STRING" in dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported").output


def two_operators(model: Any) -> None:
    model.graph.node.append(helper.make_node("Neg", ["y0"], ["z"]))


def other_domain(model: Any) -> None:
    model.graph.node[0].domain = "com.example"
    model.opset_import.append(helper.make_opsetid("com.example", 1))


def unknown_operator(model: Any) -> None:
    model.graph.node[0].op_type = "NoSuchOperator"


def data_outside(model: Any) -> None:
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")


def wrong_attribute(model: Any) -> None:
    model.graph.node[0].op_type = "ReduceMax"
    model.graph.node[0].attribute.append(helper.make_attribute("axes", "all"))


def no_node(model: Any) -> None:
    del model.graph.node[:]


def huge_constant(model: Any) -> None:
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2**31, 2**31])
    tensor.raw_data = b"1234"
    model.graph.node[0].op_type = "Add"
    model.graph.node[0].input.append("w")


def short_constant(model: Any) -> None:
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [1, 2], [1.0, 2.0])
    tensor.dims[:] = [3, 3]
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    model.graph.node[1].op_type = "Add"
    model.graph.node[1].input.append("w")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (two_operators, "the model has 2 operators, and a case has one"),
        (other_domain, "Neg is of the domain com.example"),
        (unknown_operator, "onnx finds the model wrong"),
        (data_outside, "the values of w lie in another file"),
        (wrong_attribute, "onnx finds the model wrong"),
        (no_node, "onnx finds the model wrong"),
        (huge_constant, "left out"),
        (short_constant, "left out"),
    ],
)
def test_a_model_that_is_no_case_is_left_out_with_the_reason(tmp_path: Path, change: Any, reason: str) -> None:
    x = floats(1, 2)
    model = model_of("Neg", [x], [-x])
    change(model)
    write_test(tmp_path / "test_one", model, ([x], [-x]))
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert reason in result.output


def missing_output(data: Path) -> None:
    (data / "output_0.pb").unlink()


def no_data(data: Path) -> None:
    shutil.rmtree(data)


def other_type(data: Path) -> None:
    tensor = numpy_helper.from_array(np.array([1, 2], dtype=np.int8))
    (data / "input_0.pb").write_bytes(tensor.SerializeToString())


def values_outside(data: Path) -> None:
    tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="/etc/passwd")
    (data / "input_0.pb").write_bytes(tensor.SerializeToString())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (missing_output, "test_data_set_0 has no output_0.pb"),
        (no_data, "there is no folder test_data_set_0"),
        (other_type, "x0 is INT8 in its file and FLOAT in the model"),
        (values_outside, "lie in another file"),
    ],
)
def test_values_that_are_not_there_are_named(tmp_path: Path, change: Any, reason: str) -> None:
    x = floats(1, 2)
    change(write_test(tmp_path / "test_one", model_of("Neg", [x], [-x]), ([x], [-x])) / "test_data_set_0")
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert reason in result.output


def too_few(data: bytes) -> bytes:
    return TensorProto(data_type=TensorProto.FLOAT, dims=[2**40], raw_data=data[:4]).SerializeToString()


def negative(data: bytes) -> bytes:
    return TensorProto(data_type=TensorProto.FLOAT, dims=[-1], raw_data=data[:4]).SerializeToString()


@pytest.mark.parametrize("file", ["model.onnx", "test_data_set_0/input_0.pb"])
@pytest.mark.parametrize("change", [lambda data: data[:-3], lambda _: b"\xff\xfe\xfd", lambda _: b"no protobuf"])
def test_a_broken_file_is_named_and_no_traceback(tmp_path: Path, file: str, change: Any) -> None:
    x = floats(1, 2)
    path = write_test(tmp_path / "test_one", model_of("Neg", [x], [-x]), ([x], [-x])) / file
    path.write_bytes(change(path.read_bytes()))
    result = dmlcheck("import", "onnx", tmp_path / "test_one", "-o", tmp_path / "imported")
    assert result.exit_code == 2
    assert "error[onnx-syntax]: is not a" in result.output
    assert result.output.count(path.as_posix()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="links take rights there")
def test_a_model_that_cannot_be_read_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").symlink_to(tmp_path / "nowhere")
    result = dmlcheck("import", "onnx", tmp_path, "-o", tmp_path / "imported")
    assert result.exit_code == 2
    assert "error[file-not-found]" in result.output
    assert "cannot be read: No such file" in result.output


def test_a_folder_without_models_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("none", encoding="utf-8")
    result = dmlcheck("import", "onnx", tmp_path, "-o", tmp_path / "imported")
    assert result.exit_code == 5
    assert f"no models to import: {tmp_path} has no files that end in .onnx" in result.output
    assert not (tmp_path / "imported").exists()


def test_an_import_that_is_cut_off_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = floats(1, 2)
    for name in ("test_one", "test_two"):
        write_test(tmp_path / "tests" / name, model_of("Neg", [x], [-x]), ([x], [-x]))
    arguments = ("import", "onnx", tmp_path / "tests", "-o", tmp_path / "imported")
    with monkeypatch.context() as patch:
        patch.setattr(importer, "free_name", Mock(side_effect=["test_one", KeyboardInterrupt]))
        assert dmlcheck(*arguments).exit_code == 130
    assert (tmp_path / "imported" / "test_one.yaml").exists()
    assert dmlcheck(*arguments).exit_code == 0


@pytest.mark.parametrize("change", [too_few, negative])
def test_a_tensor_that_has_not_as_many_elements_as_it_says_is_broken(tmp_path: Path, change: Any) -> None:
    x = floats(1, 2)
    folder = write_test(tmp_path / "test_one", model_of("Neg", [x], [-x]), ([x], [-x]))
    path = folder / "test_data_set_0" / "input_0.pb"
    path.write_bytes(change(path.read_bytes()))
    result = dmlcheck("import", "onnx", folder, "-o", tmp_path / "imported")
    assert result.exit_code == 2
    assert "is not a tensor of ONNX" in result.output


def test_an_empty_model_is_broken(tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").write_bytes(b"")
    result = dmlcheck("import", "onnx", tmp_path / "empty.onnx", "-o", tmp_path / "imported")
    assert result.exit_code == 2
    assert "it has no graph or no opset" in result.output


def test_what_an_export_notes_is_not_trusted(tmp_path: Path, exported: tuple[Path, dict[str, Case]]) -> None:
    folder, cases = exported
    name = next(iter(cases))
    noted = {"desc": ["[" * 10**5, "{}", "1"], "operator": ['"NO"'], "given": ["3"], "source": ["{}"]}
    for key, value in ((key, value) for key, values in noted.items() for value in values):
        target = tmp_path / name
        shutil.copytree(folder / name, target, dirs_exist_ok=True)
        model = onnx.load(folder / name / "model.onnx")
        for entry in model.metadata_props:
            if entry.key == f"dmlcheck.{key}":
                entry.value = value
        onnx.save(model, target / "model.onnx")
        result = dmlcheck("import", "onnx", target, "-o", tmp_path / "back")
        assert "1 case imported" in result.output or "left out" in result.output
