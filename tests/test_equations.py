"""The equations of single elements, computed as they are written, against the results of the operators' examples.

The results come from documentation pages, from mpmath or from calculations by hand, and not from the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from equation_scopes import SCOPES, pairs
from equations import Equation, Unknown, computed
from shipped import example_case

from dmlcheck.cases.records import Case
from dmlcheck.formats.registry import read_file
from dmlcheck.specs.about import Recipe, load_about
from dmlcheck.specs.load import data_folder, load_spec, operator_names
from dmlcheck.specs.names import integer_range

SYMBOLS = {"x": "InputTensor", "a": "ATensor", "b": "BTensor", "g": "InputGradientTensor", "e": "ExponentTensor"}
FAMILIES = ("activations", "arithmetic", "functions", "rounding", "comparisons", "bits")
# Their equations have words in them, or are of bits, or of another operator's activation.
IN_WORDS = {"ADD1", "BIT_COUNT", "BIT_NOT", "DIVIDE", "IS_INFINITY", "IS_NAN", "LOGICAL_XOR"}
OF_ELEMENTS = (
    [
        name
        for name in operator_names()
        if load_about(name).family in FAMILIES and name.removeprefix("DML_OPERATOR_ELEMENT_WISE_") not in IN_WORDS
    ]
    + [f"DML_OPERATOR_ELEMENT_WISE_{name}" for name in ("CLIP_GRAD", "CLIP_GRAD1", "DEQUANTIZE_LINEAR")]
    + [
        "DML_OPERATOR_ACTIVATION_RELU_GRAD",
        "DML_OPERATOR_ADAM_OPTIMIZER",
        "DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR",
        "DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
    ]
)


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for part in value:
            yield from flat(part)
    else:
        yield value


def names(operator: str, case: Case, index: int) -> dict[str, Any]:
    """Return what the symbols of an equation are at an element; tensors of one element are read there for all."""
    tensors = {name: list(flat(value)) for name, value in (case.inputs or {}).items()}
    at = {name: float(values[index if len(values) > 1 else 0]) for name, values in tensors.items()}
    scale_bias = case.desc.get("ScaleBias", {})
    known: dict[str, Any] = {"Scale": scale_bias.get("Scale", 1), "Bias": scale_bias.get("Bias", 0)}
    known |= {name: value for name, value in case.desc.items() if isinstance(value, (int, float, str))}
    known |= {name.removesuffix("Tensor"): value for name, value in at.items()}
    known |= {symbol: at[name] for symbol, name in SYMBOLS.items() if name in at}
    data_type = case.desc[load_spec(operator).outputs[0].name]["DataType"]
    if "INT" in data_type:
        known["lo"], known["hi"] = integer_range(data_type)
    if operator.endswith("ADAM_OPTIMIZER"):
        known |= {"M": at["InputFirstMomentTensor"], "V": at["InputSecondMomentTensor"], "G": at["GradientTensor"]}
    return known


def results(operator: str, equations: tuple[str, ...]) -> list[tuple[float, float]]:
    """Return each result of an operator's example, as it is computed and as it is written."""
    case = example_case(operator)
    (written, *_) = (case.outputs or {}).values()
    if operator.endswith("ADAM_OPTIMIZER"):
        written = (case.outputs or {})["OutputFirstMomentTensor"]
        equations = equations[:1]
    return [
        (computed(equations, names(operator, case, index)), float(value)) for index, value in enumerate(flat(written))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("operator", OF_ELEMENTS)
def test_an_equation_gives_the_results_of_the_example(operator: str) -> None:
    for found, written in results(operator, load_about(operator).equations):
        assert found == pytest.approx(written, rel=2e-6, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("operator", SCOPES)
def test_an_equation_of_several_elements_gives_the_results_of_the_example(operator: str) -> None:
    for found, written in pairs(example_case(operator), load_about(operator).equations):
        assert found == pytest.approx(written, rel=2e-6, abs=1e-7)


def is_read(operator: str, recipe: Recipe) -> bool:
    """Whether the scopes read a recipe: they know no strides, groups or backward direction, and need zero points."""
    texts = str([value for value in recipe.desc.values() if isinstance(value, dict)])
    fields = {"GroupCount": 1, "Direction": "FORWARD", "QuantizationType": "SCALE_ZERO_POINT"}
    return (
        operator in SCOPES
        and "Strides" not in texts
        and all(recipe.desc.get(name, value) == value for name, value in fields.items())
    )


RECIPES = [
    pytest.param(operator, recipe, id=f"{operator.removeprefix('DML_OPERATOR_')}: {recipe.title}")
    for operator in operator_names()
    for recipe in load_about(operator).recipes
    if is_read(operator, recipe)
]


@pytest.mark.parametrize(("operator", "recipe"), RECIPES)
def test_an_equation_gives_the_results_of_a_recipe(operator: str, recipe: Recipe) -> None:
    case = Case("recipe", "recipe", "", operator, None, recipe.desc, recipe.inputs, recipe.outputs)
    for found, written in pairs(case, load_about(operator).equations):
        assert found == pytest.approx(written, rel=2e-6, abs=1e-7)


POOLINGS = ("AVERAGE_POOLING_GRAD", "MAX_POOLING_GRAD", "QUANTIZED_LINEAR_AVERAGE_POOLING", "ROI_POOLING")
REGIONS = ("ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD")
NORMALIZATIONS = ("BATCH_NORMALIZATION_TRAINING_GRAD", "LOCAL_RESPONSE_NORMALIZATION_GRAD")
OF_CASES = (*POOLINGS, *REGIONS, *NORMALIZATIONS, "RESAMPLE_GRAD", "RESAMPLE_GRAD1", "REDUCE")
# Places that FLOAT32 rounds to another element, the offsets in the other of two readings, many elements, indices,
# gradients of regions from other samples, and samples at exactly one element beyond an edge.
OTHERWISE = """linear-large-numbers-that-cancel the-other-neighbour-at-a-boundary
    a-third-decreasing nearest-just-below-a-whole-number other-offsets-with-their-roles-changed
    three-dimensions-padding-counted three-dimensions-padding-left-out argmax argmin regions-of-nearest
    regions-of-the-largest regions-of-four-samples
    one-beyond-the-edge largest-one-beyond-the-edge"""


def is_finite(values: Any) -> bool:
    """Whether values are listed, and all of them are finite numbers."""
    every = list(flat([*values.values()]))
    return all(isinstance(value, (int, float)) and math.isfinite(value) for value in every)


def cases_with_values(operator: str) -> list[Case]:
    """Return the shipped cases of FLOAT32 of an operator whose example is too small for all parts of its equations."""
    file = f"{operator.lower()}/{'functions' if operator == 'REDUCE' else 'values'}.yaml"
    return [
        case
        for case in read_file(f"{data_folder('cases')}/{file}", file).cases
        if "FLOAT16" not in case.name.upper() and case.name.partition("[")[0] not in OTHERWISE.split()
        if is_finite({**(case.inputs or {}), **(case.outputs or {})})
    ]


@pytest.mark.slow
@pytest.mark.parametrize("operator", OF_CASES)
def test_an_equation_gives_the_results_of_cases(operator: str) -> None:
    cases = cases_with_values(operator)
    assert len(cases) >= 4
    for case in cases:
        for found, written in pairs(case, load_about(case.operator).equations):
            assert found == pytest.approx(written, rel=2e-6, abs=1e-6), case.name


@pytest.mark.parametrize(
    ("operator", "right", "wrong"),
    [
        ("ACTIVATION_ELU", "e^x - 1", "e^x + 1"),
        ("ACTIVATION_SHRINK", "x + Bias", "x - Bias"),
        ("ELEMENT_WISE_MODULUS_FLOOR", r"\lfloor a / b \rfloor", "trunc(a / b)"),
        ("ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", r"\le", "<"),
    ],
)
def test_a_wrong_equation_is_noticed(operator: str, right: str, wrong: str) -> None:
    (equation,) = load_about(f"DML_OPERATOR_{operator}").equations
    assert right in equation
    pairs = results(f"DML_OPERATOR_{operator}", (equation.replace(right, wrong),))
    assert any(found != pytest.approx(written, rel=2e-6) for found, written in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "right", "wrong"),
    [
        ("ACTIVATION_SOFTMAX1", r"e^{x_i}", r"x_i"),
        ("CUMULATIVE_SUMMATION", r"j \le i", r"j < i + 1"),
        ("DEPTH_TO_SPACE", r"(r B + q) C + c", r"(q B + r) C + c"),
        ("RESAMPLE2", r"(1 - t) Input", r"t \cdot Input"),
        ("SLICE1", r"InputWindowSizes - 1", r"InputWindowSizes - 2"),
        ("AVERAGE_POOLING1", r"w \cdot Dilations", "w"),
        ("CONVOLUTION", r"Filter_{k, c, w}", r"Filter_{k, c, 1 - w}"),
        ("GATHER_ND", r"Indices_m", r"(1 - Indices_m)"),
        ("SCATTER", r"Updates_{l, i, t}", r"Input_{l, i, t}"),
        ("QUANTIZE", r"ZeroPoint_b", "1"),
        ("GEMM", r"Beta \cdot C", r"2 \cdot C"),
        ("MULTIHEAD_ATTENTION", r"Scale \cdot", r"2 \cdot"),
        ("MEAN_VARIANCE_NORMALIZATION1", r"x - Mean", r"x"),
        ("GRU", r"(1 - z_t)", r"(1 + n_t)"),
        ("LSTM", r"o_t \odot h(C_t)", r"i_t \odot h(C_t)"),
        ("MATRIX_MULTIPLY_INTEGER", r"A_{r, k}", r"A_{k, r}"),
        ("MULTIHEAD_ATTENTION1", r"q_h k_j", r"2 q_h k_j"),
        ("QUANTIZED_LINEAR_CONVOLUTION", r"InputScale \cdot", r"2 \cdot"),
        ("REDUCE", r"\text{SUM: } y = \sum_{i} x_i", r"\text{SUM: } y = \sum_{i} x_i^2"),
        ("AVERAGE_POOLING_GRAD", r"+ w -", r"- w -"),
        ("BATCH_NORMALIZATION_TRAINING_GRAD", r"mean(g c)", r"mean(g)"),
        ("LOCAL_RESPONSE_NORMALIZATION_GRAD", r"Beta - 1", r"Beta"),
        ("MAX_POOLING_GRAD", r"i = m_o", r"i = m_o + 1"),
        ("RESAMPLE_GRAD", r"- OutputPixelOffsets", r"+ OutputPixelOffsets"),
        ("ROI_ALIGN", r"i p \le s", r"i p < s"),
        ("ROI_ALIGN1", r"- InputPixelOffset", r"+ InputPixelOffset"),
        ("ROI_ALIGN_GRAD", r"InputGradient_o}{p_h p_w}", r"InputGradient_o}{2}"),
        ("ROI_POOLING", r"\lceil \frac{(i + 1)", r"\lceil \frac{(i + 2)"),
    ],
)
def test_a_wrong_equation_of_several_elements_is_noticed(operator: str, right: str, wrong: str) -> None:
    case = example_case(f"DML_OPERATOR_{operator}")
    equations = load_about(case.operator).equations
    assert any(right in text for text in equations)
    try:
        found = pairs(case, tuple(text.replace(right, wrong) for text in equations))
    except (Unknown, TypeError, KeyError, IndexError):
        return
    assert any(value != pytest.approx(written, rel=2e-6) for value, written in found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 x^2 / 4 - 1", 2.0),
        (r"-x^2 + \frac{1}{x} (3 - 1)", -3.0),
        (r"\max(x, 3) \cdot |1 - x|", 3.0),
        (r"\begin{cases} 1 & x < 2 \\ 5 & x = 2 \text{ and } x > 3 \\ 7 & \text{otherwise} \end{cases}", 7.0),
        (r"\begin{cases} 1 & x < 1 \text{ or } 1 < x \le 2 \\ 7 & \text{otherwise} \end{cases}", 1.0),
        (r"\sqrt{x + 2} \cdot \lfloor 2.5 \rfloor", 4.0),
    ],
)
def test_an_equation_is_read_as_it_is_written(text: str, value: float) -> None:
    assert computed((f"y = {text}",), {"x": 2.0}) == value


def test_a_symbol_that_is_not_known_is_told() -> None:
    with pytest.raises(Unknown, match="q"):
        Equation("q", {}).sum()
