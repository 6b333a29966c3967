"""Which DirectML is judged, and what is expected of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from judged import Fake, case_of, giving, result_of

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.implementations.protocol import adapted
from dmlcheck.running import verdict
from dmlcheck.running.known_failures import (
    DirectML,
    judged_directml,
    of_values,
    peer_of,
    with_known,
    with_known_of_provider,
)
from dmlcheck.running.one_case import run_cases
from dmlcheck.running.results import CaseResult, Ending
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import Deviation, Peer
from dmlcheck.values.number_formats import NUMPY_TYPES

TENSOR = TensorDesc("FLOAT32", (2,))
ROWS = (
    Deviation("Old.", "before 1.8.0", "a page", until="1.8.0"),
    Deviation("Open.", "not fixed", "a page"),
    Deviation("Of one device.", "not fixed, on Xe", "a page", device="Xe"),
)


@pytest.mark.parametrize(
    ("said", "version", "directml"),
    [
        (True, "1.8.0", DirectML("1.8.0", "GPU 0")),
        (True, None, DirectML(None, "GPU 0")),
        (None, "1.8.0", DirectML("1.8.0", "GPU 0")),
        (None, None, None),
        (False, "1.8.0", None),
        (False, None, None),
    ],
)
def test_what_is_judged_is_directml_where_it_says_so_or_a_version_does_of_what_does_not_say(
    said: bool | None, version: str | None, directml: DirectML | None
) -> None:
    implementation = SimpleNamespace(name="it", device="GPU 0", **({} if said is None else {"is_directml": said}))
    assert judged_directml(adapted(implementation), version) == directml


def desc_with(*rows: Deviation) -> OperatorDesc:
    spec = load_spec("DML_OPERATOR_ACTIVATION_RELU")._replace(known_deviations=rows)
    return OperatorDesc.of(spec, {"InputTensor": TENSOR, "OutputTensor": TENSOR})


@pytest.mark.parametrize("outcome", ["failed", "error"])
@pytest.mark.parametrize(
    ("directml", "is_expected", "texts"),
    [
        (DirectML("1.7.0"), True, "Old. Open."),
        (DirectML("1.8.0"), True, "Open."),
        (DirectML("1.8.0", "Intel Xe"), True, "Open. Of one device."),
        (DirectML(None), False, "Old. Open. Of one device."),
        (DirectML(None, "Adreno"), False, "Old. Open."),
    ],
)
def test_a_failure_that_is_known_of_the_version_and_device_is_expected_and_others_have_what_is_known(
    outcome: str, directml: DirectML, is_expected: bool, texts: str
) -> None:
    desc = desc_with(*ROWS)
    result = CaseResult(case_of("ACTIVATION_RELU", {}), outcome, "why")
    found = with_known(result, desc, directml)
    told = found.reason if is_expected else " ".join(row.text for row in found.known)
    assert (found.outcome, told) == ("xfailed" if is_expected else outcome, texts)
    passed = result._replace(outcome="passed")
    assert with_known(passed, desc, directml) is passed


OF_VALUES = Deviation("Of values.", "all", "a page", values="x < 0", gives="0")


@pytest.mark.parametrize(
    ("directml", "outcome", "told"),
    [
        (DirectML("1.8.0"), "xfailed", "Of values."),
        (DirectML(None), "xfailed", "Of values."),
        (None, "passed", None),
    ],
)
def test_values_that_a_deviation_explains_are_expected_of_any_directml_and_noted_of_others(
    directml: DirectML | None, outcome: str, told: str | None
) -> None:
    desc = desc_with(OF_VALUES)
    found = with_known(Ending("failed", "why", known=(OF_VALUES,)), desc, directml)
    assert (found.outcome, found.reason, found.known) == (outcome, told, ())
    assert [note.rule for note in found.noted] == (["known-deviation"] if directml is None else [])
    other = with_known(Ending("failed", "why"), desc, directml)
    assert (other.outcome, other.known) == ("failed", ())


@pytest.mark.parametrize(("code", "outcome"), [("0x8000ffff", "xfailed"), ("0x80004005", "error")])
def test_a_refusal_is_expected_by_its_code(code: str, outcome: str) -> None:
    desc = desc_with(Deviation("Refused.", "all", "a page", refusal="0x8000FFFF"))
    params = {"implementation": "directml", "problem": f"compile: {code}"}
    ended = Ending("error", "why", (Finding("implementation-error", (), params),))
    assert with_known(ended, desc, DirectML("1.8.0")).outcome == outcome
    assert with_known(ended._replace(outcome="failed"), desc, DirectML("1.8.0")).outcome == "failed"


def test_values_are_looked_at_for_directml_and_for_others_where_what_it_gives_is_known() -> None:
    rows = (*ROWS, OF_VALUES, OF_VALUES._replace(gives=None), OF_VALUES._replace(device="Xe"))
    assert of_values(desc_with(*rows), DirectML("1.8.0")) == rows[3:5]
    assert of_values(desc_with(*rows), DirectML("1.8.0", "Intel Xe")) == rows[3:]
    assert of_values(desc_with(*rows), None) == rows[3:4]


@pytest.mark.parametrize(("outcome", "count"), [("passed", 0), ("failed", 1), ("error", 1)])
def test_what_the_provider_is_known_for_is_said_of_a_failure(outcome: str, count: int) -> None:
    found = with_known_of_provider(CaseResult(case_of("ACTIVATION_RELU", {}), outcome), "It adds wrongly.")
    assert [row.text for row in found.known] == ["It adds wrongly."] * count
    assert found.outcome == outcome


def test_nothing_is_said_where_nothing_is_known_of_the_provider() -> None:
    result = CaseResult(case_of("ACTIVATION_RELU", {}), "failed")
    assert with_known_of_provider(result, None) is result


# ---- implementations other than DirectML


def sigmoids(error: float | list[float], peer: str = "onnxruntime") -> Any:
    """Return a Sigmoid in FLOAT32 with an error, as one whose deviations are known."""

    def compute(_: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
        x = inputs["InputTensor"].astype(np.float64)
        return {"OutputTensor": (1 / (1 + np.exp(-x)) + error).astype(np.float32)}

    return Fake(compute, is_directml=False, version="1.32.0", deviates_as=peer)


PEER = {"is_directml": False, "deviates_as": "onnxruntime"}


def sigmoid_case(values: list[float]) -> Case:
    tensor = {"DataType": "FLOAT32", "Sizes": [len(values)]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor}
    return case_of("ACTIVATION_SIGMOID", desc, {"InputTensor": values})


@pytest.mark.parametrize(
    ("implementation", "outcome"),
    [
        (sigmoids(0), "passed"),
        (sigmoids(1.7e-7), "xfailed"),  # twice the right result at -16, and within the known error
        (sigmoids(3e-7), "failed"),
        (sigmoids(-1e-5), "failed"),
        (sigmoids(1.7e-7, "another"), "failed"),
        (sigmoids(1.7e-7, ""), "failed"),
    ],
)
def test_only_an_error_that_a_peer_is_known_to_have_is_expected(implementation: Any, outcome: str) -> None:
    result = result_of(sigmoid_case([-16, -3, 0, 5]), implementation)
    assert result.outcome == outcome
    is_told = result.reason is not None and result.reason.startswith("Sigmoid is a rational approximation whose error")
    assert is_told == (outcome == "xfailed")


def test_an_error_in_one_element_is_not_hidden_by_known_ones_in_others() -> None:
    result = result_of(sigmoid_case([-16, -3, 0, 5]), sigmoids([1.7e-7, 1.7e-7, 1.7e-7 + 1e-3, 1.7e-7]))
    assert result.outcome == "failed"


def test_known_errors_that_do_not_explain_the_farthest_element_are_tried_on_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    plain = verdict.compare

    def counting(*given: Any) -> Any:
        undefined = given[4].get("OutputTensor")
        asked.append(4 if undefined is None else int((~undefined).sum()))
        return plain(*given)

    monkeypatch.setattr(verdict, "compare", counting)
    values = [-16, -3, 0, 5]
    assert result_of(sigmoid_case(values), sigmoids([1.7e-7, 0, 0, 1e-3])).outcome == "failed"
    assert asked == [4, 1]
    asked.clear()
    assert result_of(sigmoid_case(values), sigmoids([1.7e-7, 0, 0, 0])).outcome == "xfailed"
    assert asked == [4, 1, 1]  # the farthest element, and all that are wrong: the same one


PEER_ROW = Deviation("Of a peer.", "since 1.24", "seen", since="1.24.0", of="other", refusal="out of range")


@pytest.mark.parametrize(
    ("version", "message", "outcome"),
    [
        ("1.24.1", "the index is Out Of Range here", "xfailed"),
        ("1.23.0", "the index is out of range here", "error"),
        ("1.24.1", "another message", "error"),
    ],
)
def test_a_refusal_is_expected_of_a_version_by_its_words(version: str, message: str, outcome: str) -> None:
    spec = load_spec("DML_OPERATOR_ACTIVATION_RELU")._replace(deviations_of={"other": (PEER_ROW,)})
    desc = OperatorDesc.of(spec, {"InputTensor": TENSOR, "OutputTensor": TENSOR})
    found = Finding("implementation-error", (), {"implementation": "it", "problem": message, "error": message})
    failed = Ending("error", "it failed", (found,))
    assert with_known(failed, desc, None, None) == failed
    ended = with_known(failed, desc, None, Peer("other", version))
    assert (ended.outcome, ended.reason) == (outcome, "Of a peer." if outcome == "xfailed" else "it failed")


def test_a_peer_is_named_by_the_implementation() -> None:
    assert peer_of(adapted(SimpleNamespace(deviates_as="other", version="2.1"))) == Peer("other", "2.1")
    assert peer_of(adapted(SimpleNamespace(version="2.1"))) is None


def test_values_of_peers_are_told_by_the_values_that_they_gave() -> None:
    """INT32 sums are clamped by ONNX Runtime from 1.24 on; other wrong sums are failures."""

    sizes = {"InputTensor": [1, 2], "OutputTensor": [1, 1]}
    desc: dict[str, Any] = {name: {"DataType": "INT32", "Sizes": size} for name, size in sizes.items()}
    desc |= {"Function": "SUM", "Axes": [1]}
    case = case_of("REDUCE", desc, {"InputTensor": [[2147483647, 5]]})
    given = [(2147483647, "1.32.0"), (2147483647, "1.23.0"), (2147483646, "1.32.0"), (-2147483644, "1.32.0")]
    found = [result_of(case, giving(each, **PEER, version=version)).outcome for each, version in given]
    assert found == ["xfailed", "failed", "failed", "passed"]


HUGE = 3e38
VECTOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
ONE = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}
WINDOW = {"Strides": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}


@pytest.mark.parametrize(
    ("operator", "tensors", "fields"),
    [
        ("GEMM", {"ATensor": VECTOR, "BTensor": VECTOR},
         {"TransA": "NONE", "TransB": "TRANSPOSE", "Alpha": 0.125, "Beta": 0}),
        ("CONVOLUTION", {"InputTensor": VECTOR, "FilterTensor": VECTOR},
         {**WINDOW, "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Dilations": [1, 1], "OutputPadding": [0, 0],
          "GroupCount": 1}),
        ("AVERAGE_POOLING", {"InputTensor": VECTOR}, {**WINDOW, "WindowSize": [1, 2], "IncludePadding": 0}),
        ("REDUCE", {"InputTensor": VECTOR}, {"Function": "AVERAGE", "Axes": [3]}),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("largest", "outcome"), [(HUGE, "xfailed"), (1.0, "failed")])
def test_what_overflows_in_a_peer_is_expected_beside_huge_numbers_alone(
    operator: str, tensors: dict[str, Any], fields: dict[str, Any], largest: float, outcome: str
) -> None:
    """A sum of two huge numbers, or of two products with one and -1, is infinite on the way in FLOAT32."""

    numbers = dict(zip(tensors, ([[[[largest, largest / 2]]]], [[[[1.0, -1.0]]]]), strict=False))
    desc = {**tensors, "OutputTensor": ONE, **fields}
    (result,) = run_cases(
        [Case("c", "c", "c.yaml", f"DML_OPERATOR_{operator}", None, desc, numbers)],
        giving(np.inf, **PEER, version="1.32.0"),
    )
    assert result.outcome == outcome


ALONE, FEW = {"DataType": "FLOAT32", "Sizes": [1]}, {"DataType": "FLOAT32", "Sizes": [4]}
HALF = {"DataType": "FLOAT16", "Sizes": [4]}
LONG = {"DataType": "INT64", "Sizes": [4]}
BYTE = {"DataType": "INT8", "Sizes": [1]}
SUMMED = {"ATensor": BYTE, "AScaleTensor": ALONE, "BTensor": BYTE, "BScaleTensor": ALONE, "OutputScaleTensor": ALONE,
          "OutputZeroPointTensor": BYTE}  # fmt: skip
NORMALIZED = {f"{name}Tensor": ALONE for name in ("Input", "Mean", "Variance", "Scale", "Bias")}
RECURRENT = {"InputTensor": ONE, "WeightTensor": ONE, "RecurrenceTensor": ONE}
SOFTPLUS = [{"Type": "DML_OPERATOR_ACTIVATION_SOFTPLUS", "Steepness": 1.0}]
RELU = [{"Type": "DML_OPERATOR_ACTIVATION_RELU"}]
CHANNELS = {"DataType": "FLOAT32", "Sizes": [1, 3, 1, 1]}
REGION = {"CrossChannel": True, "LocalSize": 1, "Alpha": 1.0, "Beta": 1.0, "Bias": 0.0}
MEAN = {"CrossChannel": False, "NormalizeVariance": True, "Epsilon": 0.0}


def in_turn(operator: str, tensors: dict[str, Any], made: dict[str, Any], fields: dict[str, Any], *given: Any) -> Any:
    """Return what is needed to judge a wrong value for some inputs."""
    return pytest.param(operator, {**tensors, **made, **fields}, dict(zip(tensors, given[:-1], strict=True)), given[-1])


@pytest.mark.parametrize(
    ("operator", "desc", "inputs", "wrong"),
    [
        in_turn("ACTIVATION_CELU", {"InputTensor": ALONE}, {"OutputTensor": ALONE}, {"Alpha": -0.5},
                [-44.4375], -np.inf),
        in_turn("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", SUMMED, {"OutputTensor": BYTE}, {},
                [4], [0.03125], [0], [0], [0.25], [1], 2),
        in_turn("BATCH_NORMALIZATION", NORMALIZED, {"OutputTensor": ALONE}, {"Spatial": True, "Epsilon": 0.0},
                [-3.4e38], [-3.4e38], [1], [2], [0], np.nan),
        in_turn("BATCH_NORMALIZATION", NORMALIZED, {"OutputTensor": ALONE}, {"Spatial": True, "Epsilon": 1e-5},
                [0.28439176], [0.29188442], [0.8502931], [0.8470186], [-0.007066003], -0.013948481),
        in_turn("RNN", RECURRENT, {"OutputSequenceTensor": ONE}, {"ActivationDescs": SOFTPLUS, "Direction": "FORWARD"},
                [[[[1]]]], [[[[280]]]], [[[[0]]]], np.inf),
        in_turn("RNN", RECURRENT, {"OutputSequenceTensor": ONE}, {"ActivationDescs": RELU, "Direction": "FORWARD"},
                [[[[1]]]], [[[[280]]]], [[[[np.nan]]]], 0),
        in_turn("REDUCE", {"InputTensor": FEW}, {"OutputTensor": ALONE}, {"Function": "SUM", "Axes": [0]},
                [-3.4e38, -3.4e38, 0, np.inf], np.nan),
        in_turn("REDUCE", {"InputTensor": FEW}, {"OutputTensor": ALONE}, {"Function": "MULTIPLY", "Axes": [0]},
                [1e-30, 1e-20, 1e30, 1e18], 0),
        in_turn("REDUCE", {"InputTensor": HALF}, {"OutputTensor": {**HALF, "Sizes": [1]}},
                {"Function": "LOG_SUM_EXP", "Axes": [0]}, [12, 0, 1, 2], np.inf),
        in_turn("REDUCE", {"InputTensor": FEW}, {"OutputTensor": ALONE}, {"Function": "LOG_SUM_EXP", "Axes": [0]},
                [np.nan, 0, np.inf, 2], np.inf),
        in_turn("REDUCE", {"InputTensor": LONG}, {"OutputTensor": {**LONG, "Sizes": [1]}},
                {"Function": "SUM", "Axes": [0]}, [2**53 + 1, 3, 1, -(2**53) - 1], 6),
    ],
)  # fmt: skip
def test_what_a_peer_is_known_to_get_wrong_is_expected_for_its_inputs_alone(
    operator: str, desc: dict[str, Any], inputs: dict[str, Any], wrong: float
) -> None:
    """Found by draws on ONNX Runtime 1.32's CPU; with small inputs the same output is a failure."""

    def outcome(values: dict[str, Any], desc: dict[str, Any] = desc) -> str:
        dtypes = {name: NUMPY_TYPES[desc[name]["DataType"]] for name in values}
        given = {name: np.array(value, dtypes[name]) for name, value in values.items()}
        case = Case("c", "c", "c.yaml", f"DML_OPERATOR_{operator}", None, desc, given)
        return run_cases([case], giving(wrong, **PEER, version="1.32.0"))[0].outcome

    assert outcome(inputs) == "xfailed"
    harmless = {name: np.where(np.array(value) == 0, 0, 0.5 if "FLOAT" in desc[name]["DataType"] else 0)
                for name, value in inputs.items()}  # fmt: skip
    if "OutputZeroPointTensor" in inputs:
        harmless = {**inputs, "OutputZeroPointTensor": [0]}
    assert outcome(harmless, {**desc, **({"ActivationDescs": RELU} if "ActivationDescs" in desc else {})}) == "failed"


@pytest.mark.parametrize(("a", "given", "outcome"), [
    (114, 119, "passed"), (114, 120, "xfailed"), (114, 118, "failed"), (115, 120, "passed"), (115, 121, "failed"),
])  # fmt: skip
def test_a_quantized_sum_beside_a_half_may_be_either_neighbour_of_a_peer(a: int, given: int, outcome: str) -> None:
    """1.4999957 and 118 are 119; of a quantized text detector ONNX Runtime 1.32's CPU gave 120."""
    numbers = {"A": (a, 0.031209342181682587, 121), "B": (133, 0.0433744341135025, 126)}
    values: dict[str, Any] = {"OutputScaleTensor": [0.05677059292793274], "OutputZeroPointTensor": [118]}
    for name, (number, scale, zero) in numbers.items():
        values |= {f"{name}Tensor": [number], f"{name}ScaleTensor": [scale], f"{name}ZeroPointTensor": [zero]}
    desc = {name: ALONE if "Scale" in name else {**BYTE, "DataType": "UINT8"} for name in (*values, "OutputTensor")}
    case = case_of("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", desc, values)
    assert result_of(case, giving(given, **PEER, version="1.32.0")).outcome == outcome


def test_lost_digits_of_running_sums_are_expected_beside_large_numbers_alone() -> None:
    for largest, outcome in ((1000.0, "xfailed"), (2.0, "failed")):
        case = case_of("LOCAL_RESPONSE_NORMALIZATION", {"InputTensor": CHANNELS, "OutputTensor": CHANNELS, **REGION},
                       {"InputTensor": [[[[largest]], [[1]], [[1]]]]})  # fmt: skip
        given = np.array([1 / largest, 1.01, 1.0], np.float32).reshape(1, 3, 1, 1)
        assert result_of(case, giving(given, **PEER, version="1.32.0")).outcome == outcome


def test_roundings_of_a_running_sum_count_for_more_where_bias_takes_most_of_it_away() -> None:
    """0.3 times 1.3125 squared, less 0.5, is 0.0168; the sum had 4 in it before."""
    two = {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 1]}
    desc = {"InputTensor": two, "OutputTensor": two, **REGION, "LocalSize": 1, "Alpha": 0.3, "Beta": 1, "Bias": -0.5}
    case = case_of("LOCAL_RESPONSE_NORMALIZATION", desc, {"InputTensor": [[[[-2]], [[-1.3125]]]]})
    for given, outcome in ((-78.139755, "xfailed"), (-78.2, "failed")):
        values = np.array([-2.8571427, given], np.float32).reshape(1, 2, 1, 1)
        assert result_of(case, giving(values, **PEER, version="1.32.0")).outcome == outcome


def test_a_square_that_overflows_is_expected_to_leave_0() -> None:
    desc = {"InputTensor": CHANNELS, "OutputTensor": CHANNELS, **REGION, "Beta": 0.25}
    for x, outcome in ((1e20, "xfailed"), (2.0, "failed")):
        case = case_of("LOCAL_RESPONSE_NORMALIZATION", desc, {"InputTensor": [[[[x]], [[x]], [[x]]]]})
        assert result_of(case, giving(0, **PEER, version="1.32.0")).outcome == outcome


def test_a_variance_of_huge_numbers_is_expected_to_be_lost() -> None:
    row = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 15]}
    for largest, outcome in ((3e38, "xfailed"), (2.0, "failed")):
        case = case_of("MEAN_VARIANCE_NORMALIZATION", {"InputTensor": row, "OutputTensor": row, **MEAN},
                       {"InputTensor": [[[[*[0] * 14, largest]]]]})  # fmt: skip
        assert result_of(case, giving(0, **PEER, version="1.32.0")).outcome == outcome
