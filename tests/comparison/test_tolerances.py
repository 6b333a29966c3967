"""Tolerances: what is published for an operator, what follows from its formula, and which of them holds."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck
from products_of import product
from valid_descs import valid

from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.records import OutputResult
from dmlcheck.comparison.tolerances import limit_for, published
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.inspection import selfcheck
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import Tolerance

SPECS = [load_spec(name) for name in operator_names()]
SMALLEST = 2.0**-126  # the least FLOAT32 that is not denormal
UNIT = 2.0**-23  # of a FLOAT32 in [1, 2)
QUANTIZE = "ELEMENT_WISE_QUANTIZE_LINEAR"
SCALED = {"ScaleBias": {"Scale": 2, "Bias": 1}}


def described(operator: str, data_type: str = "FLOAT32", **fields: Any) -> OperatorDesc:
    """Return a desc whose tensors all have one element of the type."""
    tensor = {"DataType": data_type, "Sizes": [1, 1, 1, 1]}
    spec = load_spec("DML_OPERATOR_" + operator)
    tensors = {field.name: tensor for field in (*spec.inputs, *spec.outputs) if not field.optional}
    return valid(operator, {**tensors, **fields})


def limits_of(operator: str, data_type: str = "FLOAT32", **fields: Any) -> dict[str, Any]:
    """Return the numbers of the row that a spec has for a desc, as far as it has any."""
    row, _ = published(described(operator, data_type, **fields))
    names = ("exact", "ulp", "ulp_per_exponent", "absolute", "relative")
    return {name: value for name in names if row is not None and (value := getattr(row, name))}


# ---- what is published


@pytest.mark.parametrize(
    ("operator", "data_type", "limits", "source"),
    [
        # HLSL's pages of the instructions
        ("SQRT", "FLOAT32", {"ulp": 1}, "HLSL, sqrt (sm4 - asm)"),
        ("SIN", "FLOAT32", {"absolute": 0.0008}, "HLSL, sincos (sm4 - asm)"),
        ("COS", "FLOAT32", {"absolute": 0.0008}, "HLSL, sincos (sm4 - asm)"),
        ("EXP", "FLOAT32", {"ulp": 2.0**-21 / 2.0**-24, "ulp_per_exponent": 2}, "HLSL, exp (sm4 - asm)"),
        ("LOG", "FLOAT32", {"ulp": 9, "absolute": 2.0**-21 * math.log(2)}, "HLSL, log (sm4 - asm)"),
        # web-platform-tests: webnn/resources/utils.js
        ("ADD", "FLOAT32", {"ulp": 1}, "utils.js: add"),
        ("SUBTRACT", "FLOAT16", {"ulp": 1}, "utils.js: sub"),
        ("MULTIPLY", "FLOAT32", {"ulp": 1}, "utils.js: mul"),
        ("RECIP", "FLOAT16", {"ulp": 2}, "utils.js: reciprocal"),
        ("SQRT", "FLOAT16", {"ulp": 1}, "utils.js: sqrt"),
        ("COS", "FLOAT16", {"absolute": 1 / 512}, "utils.js: cos"),
        ("ERF", "FLOAT32", {"absolute": 1 / 1024}, "utils.js: erf"),
        ("ERF", "FLOAT16", {"absolute": 1 / 512}, "utils.js: erf"),
        ("LOG", "FLOAT16", {"ulp": 3, "absolute": 1 / 1024}, "utils.js: log"),
        # WGSL, accuracy of floating-point expressions
        ("DIVIDE", "FLOAT32", {"ulp": 2.5}, "WGSL"),
        ("EXP", "FLOAT16", {"ulp": 1, "ulp_per_exponent": 2}, "WGSL"),
        ("ATAN", "FLOAT16", {"ulp": 5}, "WGSL"),
        # nothing but a formula
        ("MODULUS_TRUNCATE", "FLOAT32", {}, ""),
    ],
)
def test_elementary_functions_have_the_numbers_of_their_sources(
    operator: str, data_type: str, limits: dict[str, Any], source: str
) -> None:
    desc = described(f"ELEMENT_WISE_{operator}", data_type)
    row, _ = published(desc)
    assert source in ("" if row is None else row.source)
    assert limits_of(desc.spec.short, data_type) == pytest.approx(limits, rel=0.05)


@pytest.mark.parametrize(
    ("activation", "float32", "float16", "fields"),
    [
        ("ELU", 18, 18, {"Alpha": 1}),
        ("GELU", 18, 18, {}),
        ("HARD_SIGMOID", 2, 2, {"Alpha": 0.2, "Beta": 0.5}),
        ("HARD_SWISH", 4, 4, {"Alpha": 0.2, "Beta": 0.5}),
        ("LEAKY_RELU", 1, 2, {"Alpha": 0.1}),
        ("LINEAR", 2, 2, {"Alpha": 2, "Beta": 1}),
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


# ---- every spec


def test_every_row_has_a_source() -> None:
    assert [spec.short for spec in SPECS for row in spec.tolerance if not row.source] == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (Tolerance(ulp=1), "has no source"),
        (Tolerance(source="none"), "must either be exact or have limits"),
        (Tolerance(exact=True, ulp=1, source="none"), "must either be exact or have limits"),
        (Tolerance(ulp=1, when={"DataType": ("FLOAT33",)}, source="none"), "has the type FLOAT33"),
        (Tolerance(ulp=1, when={"Alpha": ("1",)}, source="none"), "asks for the field Alpha, which does not exist"),
        (Tolerance(ulp=1, present=("Alpha",), source="none"), "names Alpha, which is not a field"),
    ],
)
def test_the_self_check_finds_wrong_rows(row: Tolerance, problem: str) -> None:
    spec = load_spec("DML_OPERATOR_ELEMENT_WISE_EXP")._replace(tolerance=(row,))
    assert problem in "\n".join(selfcheck._spec_problems(spec))


# ---- which limit holds


def test_the_data_type_of_the_output_selects_the_row() -> None:
    halves = Tolerance(ulp=1, when={"DataType": ("FLOAT16",)}, source="a table")
    tensor = {"DataType": "INT32", "Sizes": [1, 1, 1, 1]}
    for other, row in (("InputTensor", halves), ("OutputTensor", None)):
        desc = described("CAST", "FLOAT16", **{other: tensor})
        assert published(desc._replace(spec=desc.spec._replace(tolerance=(halves,))))[0] == row
    assert limits_of("ELEMENT_WISE_ADD", "INT32") == {"exact": True}


def test_an_operator_that_moves_data_computes_where_it_scales() -> None:
    assert limits_of("ELEMENT_WISE_IDENTITY") == {"exact": True}
    assert limits_of("ELEMENT_WISE_IDENTITY", **SCALED) == {"ulp": 1}
    moved = judged("ELEMENT_WISE_IDENTITY", [1], 1, 1 + UNIT)
    assert (moved.mismatches, moved.max_share, moved.bound) == (1, None, "exact")
    assert moved.decided_by.startswith("the published limit of ELEMENT_WISE_IDENTITY: ")
    assert judged("ELEMENT_WISE_IDENTITY", [1], 3, 3 + 2 * UNIT, **SCALED).mismatches == 0


def test_words_say_what_decides() -> None:
    limit = limit_for(described("ELEMENT_WISE_EXP", "FLOAT16"), None, Precision("FLOAT16"))
    text = limit.decided_by("FLOAT16", terms=1000)
    formula = (
        "the formula of the operator, with each operation rounded to FLOAT16, sums of up to 1,000 terms in any order"
    )
    assert text.startswith(f"{formula}; or the published limit of ELEMENT_WISE_EXP with DataType FLOAT16: WGSL, ")
    assert text.endswith(", if that is larger")
    exact = limit_for(described("ELEMENT_WISE_ABS"), None)
    assert exact.decided_by("FLOAT32", is_rounded=False).startswith("the published limit of ELEMENT_WISE_ABS: ")
    assert exact.text("FLOAT32") == "exact"


@pytest.mark.parametrize(
    ("operator", "fields", "is_rounded", "text"),
    [
        (QUANTIZE, {}, True, "the formula of the operator, with each operation rounded to FLOAT32"),
        (
            QUANTIZE,
            {},
            False,
            f"the published limit of {QUANTIZE}: integers are exact; close to a half, where rounding decides",
        ),
        ("REDUCE", {"Function": "SUM", "Axes": [3]}, False, "the formula of the operator: INT32 is exact"),
        (
            "ELEMENT_WISE_ABS",
            SCALED,
            False,
            "the published limit of ELEMENT_WISE_ABS with ScaleBias, which is for floats: INT32 is exact",
        ),
    ],
)
def test_words_on_integers_name_roundings_only_where_there_are_any(
    operator: str, fields: dict[str, Any], is_rounded: bool, text: str
) -> None:
    data_type = "FLOAT32" if operator == QUANTIZE else "INT32"
    to = {"OutputTensor": {"DataType": "INT8", "Sizes": [1, 1, 1, 1]}} if operator == QUANTIZE else {}
    limit = limit_for(described(operator, data_type, **fields, **to), None)
    found = limit.decided_by("INT8" if to else "INT32", is_rounded=is_rounded)
    assert found == text if is_rounded else found.startswith(text)


# ---- how far they reach


def judged(
    operator: str, given: list[float], expected: float, found: float, data_type: str = "FLOAT32", **fields: Any
) -> OutputResult:
    """Compare one element with what is expected."""
    desc = described(operator, data_type, **fields)
    dtype = np.float32 if data_type == "FLOAT32" else np.float16
    wanted, actual = (np.full((1, 1, 1, 1), value, dtype=dtype) for value in (expected, found))
    names = [field.name for field in desc.spec.inputs if desc.parts.get(field.name)]
    inputs = {name: np.full((1, 1, 1, 1), value, dtype=dtype) for name, value in zip(names, given, strict=True)}
    (output,) = desc.tensors("output_tensor")
    pair = {output.label: (output.tensor, wanted)}, {output.label: actual}
    return compare(*pair, limit_for(desc, None), partial(bounds, desc, inputs))[output.label].result


def share(
    operator: str, given: list[float], expected: float, found: float, data_type: str = "FLOAT32", **fields: Any
) -> float:
    """Return the error of one element as a share of its bound."""
    result = judged(operator, given, expected, found, data_type, **fields)
    assert result.max_share is not None
    assert bool(result.mismatches) == (result.max_share > 1)
    return result.max_share


def test_the_wider_of_the_published_limit_and_the_derived_one_holds() -> None:
    # 1 ULP is published; the formula gives 2^-24 * 2 = 1 unit of 2 at most, and 1 ULP of the result.
    assert share("ELEMENT_WISE_ADD", [1, 1 + UNIT], 2 + 2 * UNIT, 2 + 6 * UNIT) > 1
    # 18 ULP are published; near 0 exp(x) - 1 loses more than that of a tiny x.
    assert share("ACTIVATION_ELU", [-1], math.expm1(-1), math.expm1(-1) + 9 * UNIT, Alpha=1) == pytest.approx(
        1, rel=0.06
    )
    assert share("ACTIVATION_ELU", [-1e-3], math.expm1(-1e-3), -1e-3 + 5e-7 - 3 * UNIT, Alpha=1) < 1


def test_exp_of_directml_as_measured_is_within_its_bound() -> None:
    # webmachinelearning/webnn#288: the input, what DirectML gave, and the true value
    measured = [
        (-22.99204874532912, 1.0343804979218163e-10, 1.0343799702128246e-10),
        (20.0467240906249, 508371712, 508372035.3858906),
        (22.620644348144452, 6668381184, 6668390398.21978),
        (24.878306448588418, 63754645504, 63754553672.34833),
        (24.46251196998665, 42066206720, 42066265840.60161),
    ]
    assert all(share("ELEMENT_WISE_EXP", [x], right, found) <= 1 for x, found, right in measured)


def test_units_per_exponent_grow_with_the_result() -> None:
    for exponent in (-64, 64):
        bound = 8 + 2 * 64 * math.log(2)
        right = 2.0**exponent
        found = right * (1 + 90 * UNIT)
        assert share("ELEMENT_WISE_EXP", [exponent * math.log(2)], right, found) == pytest.approx(90 / bound, rel=0.1)


def test_a_denormal_result_may_be_flushed_in_float32_only() -> None:
    assert share("ELEMENT_WISE_MULTIPLY", [2.0**-65, 2.0**-65], 2.0**-130, 0) < 1
    assert share("ELEMENT_WISE_MULTIPLY", [2.0**-60, 2.0**-65], 2.0**-125, 0) > 1
    assert share("ELEMENT_WISE_MULTIPLY", [2.0**-10, 2.0**-10], 2.0**-20, 0, "FLOAT16") > 1


def test_an_activation_carries_the_error_of_what_it_is_fused_with() -> None:
    fused = {"FusedActivation": {"Type": "ACTIVATION_LINEAR", "Alpha": 1000, "Beta": -2000}}
    # The sum of 1 and 1 + 2^-23 is halfway between two numbers: one unit of 2 off, times 1000.
    right = 1000 * (2 + UNIT) - 2000
    assert share("ELEMENT_WISE_ADD1", [1, 1 + UNIT], right, right + 1000 * UNIT, **fused) < 1
    assert share("ELEMENT_WISE_ADD1", [1, 1 + UNIT], right, right + 8000 * UNIT, **fused) > 1


def test_the_inputs_that_a_run_accepts_are_told_with_the_bound() -> None:
    desc, _ = product(*(np.zeros((1, 1, 2, 2), np.float32) for _ in range(2)))
    assert "FLOAT32" not in limit_for(desc, None).decided_by("FLOAT32").replace("to FLOAT32", "")
    assert limit_for(desc, None, Precision(factors="TF32")).decided_by("FLOAT32", terms=2) == (
        "the formula of the operator, with each operation rounded to FLOAT32, "
        "FLOAT32 factors of sums of products to TF32, sums of up to 2 terms in any order"
    )


# ---- what is shown


def test_show_prints_the_formula_with_its_roundings_and_the_published_rows() -> None:
    text = " ".join(dmlcheck("show", "ACTIVATION_SIGMOID").output.split())
    assert "Formula 1 / (1 + exp(-x))." in text
    assert "floats: the rounding of each operation in FLOAT32 (FLOAT16 with `--accumulate float16`)" in text
    assert "exp: 4 ULP, and 1 ULP of the operand (HLSL, exp (sm4 - asm)" in text
    assert "DataType is FLOAT32: 34 ULP (WPT, " in text
    text = " ".join(dmlcheck("show", "ELEMENT_WISE_ABS").output.split())
    assert "Formula" not in text
    assert "exact (only the sign changes" in text


def test_show_has_the_rows_as_json() -> None:
    output = dmlcheck("show", "ELEMENT_WISE_EXP", "--format", "json").output
    rows = json.loads(output)["tolerance"]
    assert [row["when"] for row in rows] == [{"DataType": ["FLOAT32"]}, {"DataType": ["FLOAT16"]}]
    assert (rows[1]["ulp"], rows[1]["ulp_per_exponent"], "absolute" in rows[1]) == (1, 2, False)
    assert all(row["source"] for row in rows)
    exact = json.loads(dmlcheck("show", "TILE", "--format", "json").output)["tolerance"]
    assert [(row["exact"], sorted(row)) for row in exact] == [(True, ["exact", "source"])]


# ---- what they cost


@pytest.mark.slow
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
