"""Tolerances of operators: numbers typed from their sources, which row holds for a desc, and how far they reach."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from dmlcheck import validation
from dmlcheck.cli import main
from dmlcheck.comparison import compare
from dmlcheck.comparison.tolerances import DATA_TYPE, tolerance_of
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.inspection import selfcheck
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS, NEWEST_LEVEL
from dmlcheck.specs.records import Tolerance

SPECS = [load_spec(name) for name in operator_names()]
SMALLEST = 2.0**-126  # the least FLOAT32 that is not denormal


def described(operator: str, data_type: str = "FLOAT32", **fields: Any) -> OperatorDesc:
    """Return a desc whose tensors all have one element of the type."""
    tensor = {"DataType": data_type, "Sizes": [1, 1, 1, 1]}
    spec = load_spec("DML_OPERATOR_" + operator)
    tensors = {field.name: tensor for field in (*spec.inputs, *spec.outputs) if not field.optional}
    desc, findings = validation.validate(operator, {**tensors, **fields}, NEWEST_LEVEL)
    assert desc is not None
    assert not findings
    return desc


def limits_of(operator: str, data_type: str = "FLOAT32", **fields: Any) -> dict[str, Any]:
    """Return the numbers of the tolerance that holds for a desc, without what it does not limit."""
    found = tolerance_of(described(operator, data_type, **fields))
    assert found is not None
    names = ("exact", "ulp", "ulp_per_exponent", "absolute", "relative")
    return {name: value for name in names if (value := getattr(found[0], name))}


# ---- the numbers


@pytest.mark.parametrize(
    ("operator", "data_type", "limits", "source"),
    [
        # Direct3D 11.3 functional spec and HLSL's pages of the instructions
        ("SQRT", "FLOAT32", {"ulp": 1}, "HLSL, sqrt (sm4 - asm)"),
        ("SIN", "FLOAT32", {"absolute": 0.0008}, "HLSL, sincos (sm4 - asm)"),
        ("COS", "FLOAT32", {"absolute": 0.0008}, "HLSL, sincos (sm4 - asm)"),
        ("EXP", "FLOAT32", {"ulp": 2.0**-21 / 2.0**-24, "ulp_per_exponent": 2}, "HLSL, exp (sm4 - asm)"),
        ("LOG", "FLOAT32", {"ulp": 9, "absolute": 2.0**-21 * math.log(2)}, "HLSL, log (sm4 - asm)"),
        # web-platform-tests: webnn/resources/utils.js
        ("ADD", "FLOAT32", {"ulp": 1}, "utils.js: add"),
        ("ADD", "FLOAT16", {"ulp": 1}, "utils.js: add"),
        ("SUBTRACT", "FLOAT16", {"ulp": 1}, "utils.js: sub"),
        ("MULTIPLY", "FLOAT32", {"ulp": 1}, "utils.js: mul"),
        ("RECIP", "FLOAT32", {"ulp": 2}, "utils.js: reciprocal"),
        ("RECIP", "FLOAT16", {"ulp": 2}, "utils.js: reciprocal"),
        ("SQRT", "FLOAT16", {"ulp": 1}, "utils.js: sqrt"),
        ("COS", "FLOAT16", {"absolute": 1 / 512}, "utils.js: cos"),
        ("ERF", "FLOAT32", {"absolute": 1 / 1024}, "utils.js: erf"),
        ("ERF", "FLOAT16", {"absolute": 1 / 512}, "utils.js: erf"),
        ("TAN", "FLOAT32", {"absolute": 1 / 1024, "relative": 0.0008}, "utils.js: tan"),
        ("LOG", "FLOAT16", {"ulp": 3, "absolute": 1 / 1024}, "utils.js: log"),
        # WGSL, accuracy of concrete floating-point expressions
        ("DIVIDE", "FLOAT32", {"ulp": 2.5}, "WGSL"),
        ("DIVIDE", "FLOAT16", {"ulp": 2.5}, "WGSL"),
        ("EXP", "FLOAT16", {"ulp": 1, "ulp_per_exponent": 2}, "WGSL"),
        ("ATAN", "FLOAT32", {"ulp": 4096}, "WGSL"),
        ("ATAN", "FLOAT16", {"ulp": 5}, "WGSL"),
        ("ATAN_YX", "FLOAT16", {"ulp": 5}, "WGSL"),
        ("ASIN", "FLOAT32", {"ulp": 1, "absolute": 6.81e-5}, "WGSL"),
        ("ACOS", "FLOAT32", {"ulp": 1, "absolute": 6.77e-5}, "WGSL"),
        ("ACOS", "FLOAT16", {"ulp": 1, "absolute": 3.91e-3}, "WGSL"),
        # OpenCL CTS: math_brute_force/function_list.cpp
        ("MODULUS_TRUNCATE", "FLOAT32", {"ulp": 1}, "OpenCL"),
        ("ROUND", "FLOAT32", {"exact": True}, "OpenCL"),
    ],
)
def test_elementary_functions_have_the_numbers_of_their_sources(
    operator: str, data_type: str, limits: dict[str, Any], source: str
) -> None:
    fields = {"RoundingMode": "HALVES_TO_NEAREST_EVEN"} if operator == "ROUND" else {}
    desc = described(f"ELEMENT_WISE_{operator}", data_type, **fields)
    found = tolerance_of(desc)
    assert found is not None
    assert source in found[0].source
    flushed = {"absolute": SMALLEST} if "may be flushed to 0" in found[0].source else {}
    assert limits_of(desc.spec.short, data_type, **fields) == pytest.approx({**flushed, **limits}, rel=0.05)


@pytest.mark.parametrize(
    ("activation", "float32", "float16", "fields"),
    [
        ("ELU", 18, 18, {"Alpha": 1}),
        ("GELU", 18, 18, {}),
        ("HARD_SIGMOID", 2, 2, {"Alpha": 0.2, "Beta": 0.5}),
        ("HARD_SWISH", 4, 4, {"Alpha": 0.2, "Beta": 0.5}),
        ("LEAKY_RELU", 1, 2, {"Alpha": 0.1}),
        ("LINEAR", 2, 2, {"Alpha": 2, "Beta": 1}),
        ("PARAMETERIZED_RELU", 1, 1, {}),
        ("RELU", None, None, {}),
        ("SIGMOID", 34, 10, {}),
        ("SOFTPLUS", 18, 18, {"Steepness": 1}),
        ("SOFTSIGN", 3, 3, {}),
        ("TANH", 16, 16, {}),
    ],
)
def test_activations_have_the_ulp_of_the_webnn_tests(
    activation: str, float32: float | None, float16: float | None, fields: dict[str, Any]
) -> None:
    name = "ACTIVATION_" + activation
    assert limits_of(name, "FLOAT32", **fields).get("ulp") == float32
    assert limits_of(name, "FLOAT16", **fields).get("ulp") == float16


def test_exp_of_directml_as_measured_is_within_its_bound() -> None:
    # webmachinelearning/webnn#288: the input, what DirectML gave, and the true value
    measured = [
        (-22.99204874532912, 1.0343804979218163e-10, 1.0343799702128246e-10),
        (20.0467240906249, 508371712, 508372035.3858906),
        (22.620644348144452, 6668381184, 6668390398.21978),
        (24.878306448588418, 63754645504, 63754553672.34833),
        (24.46251196998665, 42066206720, 42066265840.60161),
    ]
    assert all(_share("ELEMENT_WISE_EXP", expected, found) <= 1 for _, found, expected in measured)


# ---- every spec


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.short)
def test_every_type_of_every_operator_has_a_row_with_a_source(spec: Any) -> None:
    assert all(row.source for row in spec.tolerance)
    types = {
        kind
        for table in spec.support
        for supports in table.rows.values()
        for kind in (supports[spec.outputs[0].name].types if spec.outputs[0].name in supports else ())
    }
    plain = [row for row in spec.tolerance if not row.present and set(row.when or ()) <= {DATA_TYPE}]
    if spec.short != "REDUCE":  # whose rows are by function
        assert all(any(kind in (row.when or {}).get(DATA_TYPE, types) for row in plain) for kind in types)


@pytest.mark.parametrize("function", ENUMS["DML_REDUCE_FUNCTION"])
def test_every_reduction_has_a_row(function: str) -> None:
    desc = described("REDUCE", "UINT32" if function.startswith("ARG") else "FLOAT32", Function=function, Axes=[0])
    found = tolerance_of(desc)
    assert found is not None
    assert function in (found[0].when or {})["Function"]


def test_the_logarithms_of_float16_do_not_have_the_bound_of_float32() -> None:
    for function in ("LOG_SUM", "LOG_SUM_EXP"):
        fields = {"Function": function, "Axes": [0]}
        assert limits_of("REDUCE", "FLOAT32", **fields)["absolute"] < 1e-6
        assert limits_of("REDUCE", "FLOAT16", **fields)["absolute"] > 2.0**-11


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (Tolerance(ulp=1), "has no source"),
        (Tolerance(source="none"), "must either be exact or have limits"),
        (Tolerance(exact=True, ulp=1, source="none"), "must either be exact or have limits"),
        (Tolerance(ulp=1, times="abs(Alpha)", source="none"), "names Alpha, which is not a field"),
        (Tolerance(ulp=1, times="2", source="none"), "multiplies an absolute limit that it does not have"),
        (Tolerance(ulp=1, when={"DataType": ("FLOAT33",)}, source="none"), "has the type FLOAT33"),
        (Tolerance(ulp=1, when={"Alpha": ("1",)}, source="none"), "asks for the field Alpha, which does not exist"),
        (Tolerance(ulp=1, present=("Alpha",), source="none"), "names Alpha, which is not a field"),
    ],
)
def test_the_self_check_finds_wrong_rows(row: Tolerance, problem: str) -> None:
    spec = load_spec("DML_OPERATOR_ELEMENT_WISE_EXP")._replace(tolerance=(row,))
    assert problem in "\n".join(selfcheck._spec_problems(spec))


def test_the_self_check_finds_an_operator_without_a_tolerance() -> None:
    spec = load_spec("DML_OPERATOR_ELEMENT_WISE_EXP")
    assert not list(selfcheck._spec_problems(spec))
    assert list(selfcheck._spec_problems(spec._replace(tolerance=()))) == ["it has no tolerance"]


# ---- which row holds


def test_the_data_type_of_the_output_selects_the_row() -> None:
    tensor = {"DataType": "INT32", "Sizes": [1, 1, 1, 1]}
    assert limits_of("CAST", "FLOAT16", InputTensor=tensor) == {"ulp": 1}
    assert limits_of("CAST", "FLOAT16", OutputTensor=tensor) == {"exact": True}
    assert limits_of("ELEMENT_WISE_ADD", "INT32") == {"exact": True}


def test_the_words_say_what_selected_the_row() -> None:
    limit = compare.limit_for(described("ELEMENT_WISE_EXP", "FLOAT16"), None)
    assert limit.whose == "the tolerance of ELEMENT_WISE_EXP with DataType FLOAT16"
    assert limit.decided_by("FLOAT16").startswith(limit.whose + ": WGSL, ")
    assert limit.text(0, "FLOAT16") == "1 ULP + 2 * |ln result| ULP"


def test_an_operator_that_moves_data_computes_where_it_scales() -> None:
    scale = {"ScaleBias": {"Scale": 2, "Bias": 1}}
    assert limits_of("ELEMENT_WISE_IDENTITY") == {"exact": True}
    assert limits_of("ELEMENT_WISE_IDENTITY", **scale) == {"ulp": 1}
    found = tolerance_of(described("ELEMENT_WISE_IDENTITY", **scale))
    assert found is not None
    assert found[0].accumulate
    assert found[1] == "ScaleBias"


@pytest.mark.parametrize(
    ("activation", "fields", "factor"),
    [
        ("ELU", {"Alpha": 1}, 1),
        ("ELU", {"Alpha": -3}, 3),
        ("CELU", {"Alpha": 0.5}, 0.5),
        ("SCALED_ELU", {"Alpha": 2, "Gamma": -3}, 6),
    ],
)
def test_an_absolute_limit_grows_with_an_attribute(activation: str, fields: dict[str, Any], factor: float) -> None:
    limits = limits_of("ACTIVATION_" + activation, **fields)
    assert limits["absolute"] == pytest.approx(factor * 2.0**-21, rel=0.01)


def test_an_attribute_of_zero_takes_the_absolute_limit_away() -> None:
    assert limits_of("ACTIVATION_SOFTPLUS", Steepness=4)["absolute"] == pytest.approx(4.6e-7 / 4)
    assert limits_of("ACTIVATION_SOFTPLUS", Steepness=0) == {"ulp": 18}


def test_a_fused_activation_adds_its_part() -> None:
    def fused(activation: str, **fields: Any) -> Tolerance:
        desc = described("ELEMENT_WISE_ADD1", FusedActivation={"Type": activation, **fields})
        found = tolerance_of(desc)
        assert found is not None
        return found[0]

    assert limits_of("ELEMENT_WISE_ADD1")["ulp"] == fused("ACTIVATION_RELU").ulp == 1
    assert fused("ACTIVATION_SIGMOID").ulp == 1 + 34
    assert fused("ACTIVATION_SIGMOID").ulp_per_exponent == 2
    elu = fused("ACTIVATION_ELU", Alpha=3)
    assert elu.ulp == 1 + 18
    assert elu.absolute == pytest.approx(3 * 2.0**-21, rel=0.01)
    assert "utils.js: add" in elu.source
    assert "utils.js: elu" in elu.source


def test_an_exact_operator_with_a_fused_activation_is_no_longer_exact() -> None:
    desc = described("ELEMENT_WISE_ADD1", FusedActivation={"Type": "ACTIVATION_TANH"})
    found = tolerance_of(desc._replace(spec=desc.spec._replace(tolerance=(Tolerance(exact=True, source="none"),))))
    assert found is not None
    assert (found[0].exact, found[0].ulp) == (False, 16)


# ---- how far they reach


def _share(operator: str, expected: float, found: float, data_type: str = "FLOAT32") -> float:
    """Return the error of one element as a share of the operator's bound."""
    desc = described(operator, data_type)
    dtype = np.float32 if data_type == "FLOAT32" else np.float16
    arrays = (np.full((1, 1, 1, 1), value, dtype=dtype) for value in (expected, found))
    (tensor,) = [part.tensor for part in desc.tensors("output_tensor")]
    result = compare.compare(*arrays, tensor, compare.limit_for(desc, None))
    assert result.max_share is not None
    assert bool(result.mismatches) == (result.max_share > 1)
    return result.max_share


def test_units_per_exponent_grow_with_the_result() -> None:
    unit = 2.0**-23
    assert _share("ELEMENT_WISE_EXP", 1, 1 + 8 * unit) == pytest.approx(1)
    assert _share("ELEMENT_WISE_EXP", 1, 1 + 9 * unit) == pytest.approx(9 / 8)
    for exponent in (-64, 64):
        bound = 8 + 2 * 64 * math.log(2)
        found = 2.0**exponent * (1 + 90 * unit)
        assert _share("ELEMENT_WISE_EXP", 2.0**exponent, found) == pytest.approx(90 / bound)


def test_units_per_exponent_leave_zero_and_infinity_as_they_are() -> None:
    assert _share("ELEMENT_WISE_EXP", 0, 2.0**-126) == pytest.approx(2.0**-126 / (1.18e-38 + 8 * 2.0**-149))
    assert _share("ELEMENT_WISE_EXP", math.inf, 1) > 1
    assert _share("ELEMENT_WISE_EXP", 1, math.inf) > 1


def test_a_denormal_result_may_be_flushed_in_float32_only() -> None:
    assert _share("ELEMENT_WISE_MULTIPLY", 2.0**-130, 0) < 1
    assert _share("ELEMENT_WISE_MULTIPLY", 2.0**-125, 0) > 1
    assert _share("ELEMENT_WISE_MULTIPLY", 2.0**-20, 0, "FLOAT16") > 1


# ---- what is shown


def test_show_prints_each_row_with_its_source() -> None:
    printed = CliRunner().invoke(main, ["show", "ACTIVATION_SIGMOID"]).output
    text = " ".join(printed.split())
    assert "DataType is FLOAT32: 34 ULP + 2 * |ln result| ULP + 1.18e-38 absolute (WPT, " in text
    assert "DataType is FLOAT16: 10 ULP + 2 * |ln result| ULP + 1.6e-05 absolute (WPT, " in text
    text = " ".join(CliRunner().invoke(main, ["show", "ELEMENT_WISE_IDENTITY"]).output.split())
    assert "with ScaleBias: n * u * sum|terms| + 1 ULP, integers exact (" in text
    text = " ".join(CliRunner().invoke(main, ["show", "ACTIVATION_ELU"]).output.split())
    assert "18 ULP + 4.8e-07 * abs(Alpha) absolute (" in text


def test_show_has_the_rows_as_json() -> None:
    output = CliRunner().invoke(main, ["show", "ELEMENT_WISE_EXP", "--format", "json"]).output
    rows = json.loads(output)["tolerance"]
    assert [row["when"] for row in rows] == [{"DataType": ["FLOAT32"]}, {"DataType": ["FLOAT16"]}]
    assert (rows[1]["ulp"], rows[1]["ulp_per_exponent"], "absolute" in rows[1]) == (1, 2, False)
    assert all(row["source"] for row in rows)
    exact = json.loads(CliRunner().invoke(main, ["show", "TILE", "--format", "json"]).output)["tolerance"]
    assert [(row["exact"], sorted(row)) for row in exact] == [(True, ["exact", "source"])]


# ---- what they cost


def test_no_spec_is_read_before_it_is_needed() -> None:
    tensor = "{'DataType': 'FLOAT32', 'Sizes': [1, 1, 1, 1]}"
    script = (
        "import sys, dmlcheck, dmlcheck.cli\n"
        "from dmlcheck.specs import load\n"
        "assert load.load_spec.cache_info().currsize == 0\n"
        f"assert not dmlcheck.validate('ELEMENT_WISE_EXP', {{'InputTensor': {tensor}, 'OutputTensor': {tensor}}})\n"
        "assert load.load_spec.cache_info().currsize == 1\n"
        "assert not {'numpy', 'dmlcheck.comparison.tolerances'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
