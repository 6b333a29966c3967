"""What is known of an operator, as plain values: against a JSON Schema written from the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import numpy as np
import pytest
from commandline import dmlcheck
from report_schema import COUNT, LEVEL, NUMBER, TEXT, items, record, with_optional
from shipped import cases_of

from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.inspection.executed import CaseCounts
from dmlcheck.inspection.operator_pages import (
    formula_texts,
    is_computed,
    levels_dict,
    operator_record,
    rounding_limits,
    rounding_texts,
)
from dmlcheck.reference.ball import elementwise
from dmlcheck.reference.ball.roundings import ROUNDINGS
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.functions.nested import Nested
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import DATA_TYPES, RELEASES
from dmlcheck.specs.records import BASES, OUTPUT

TOLERANCE = with_optional(
    record(source=TEXT),
    exact={"const": True},
    accumulate={"const": True},
    **dict.fromkeys(("ulp", "absolute", "relative", "ulp_per_exponent"), NUMBER),
    times=TEXT,
    when={"type": "object", "additionalProperties": items(TEXT)},
    present=items(TEXT),
)


VALUES = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["string", "boolean"]}}}
CONDITIONS = with_optional(
    record(), when=VALUES, unless=VALUES, present=items(TEXT), absent=items(TEXT), since=LEVEL, until=LEVEL
)

RELEASE = {"enum": list(RELEASES)}
VERSION_OR_NONE = {"type": ["string", "null"], "pattern": "^1[.][0-9]+[.][0-9]+$"}
SENTENCE = {"type": "string", "pattern": "[.]$"}
VERSION = record(
    operator={"enum": list(operator_names())},
    introduced=LEVEL,
    text={"type": "string"},
    added=items(TEXT),
    removed=items(TEXT),
)

DATE = {"type": "string", "pattern": "^20[0-9-]+$"}
MEASURED = items(record(text=SENTENCE, library=TEXT, device=TEXT, date=DATE))
OPERATOR = record(
    operator={"enum": list(operator_names())},
    purpose=SENTENCE,
    family=record(id=TEXT, title=TEXT),
    keywords={**items(TEXT), "minItems": 1},
    counterparts=items(
        record(
            library={"enum": ["ONNX", "WebNN", "PyTorch", "TensorFlow"]},
            name=TEXT,
            source={"type": "string", "pattern": "^https://"},
        )
    ),
    changes=VERSION,
    lineage=items(VERSION),
    equations={**items(TEXT), "minItems": 1},
    where=items(record(symbol=TEXT, meaning=TEXT)),
    example={"type": "string", "pattern": "^[a-z_]+[.]yaml::"},
    introduced=LEVEL,
    in_place={"type": "boolean"},
    fields=items(
        record(
            name=TEXT,
            kind={"enum": ["input_tensor", "output_tensor", "attribute"]},
            type=TEXT,
            c_type={"type": "string", "pattern": r"^(const )?[A-Z_0-9]*[A-Z][A-Z_0-9]*[*]?$"},
            limits=items(record(constraint=TEXT, word=TEXT, argument={})),
            typical={},
            optional={"type": "boolean"},
            about=TEXT,
            enum={"type": ["string", "null"]},
            values=items(TEXT),
        )
    ),
    support=items(
        record(
            when={"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": items(TEXT)}]},
            levels=items(
                record(
                    level=LEVEL,
                    tensors={
                        "type": "object",
                        "additionalProperties": record(dims=items(COUNT), types=items(TEXT)),
                    },
                )
            ),
        )
    ),
    taken=items(
        record(
            tensors=items(TEXT),
            types=items({"enum": [*DATA_TYPES]}),
            dims=items(COUNT),
            operators={"type": "object", "additionalProperties": items(TEXT)},
            releases=items(RELEASE),
        )
    ),
    constraints=items(
        record(
            id=TEXT,
            text=TEXT,
            conditions=CONDITIONS,
            basis={"enum": list(BASES)},
            taken=items(RELEASE),
            taken_inside=items(RELEASE),
        )
    ),
    formula=items(TEXT),
    supersedes=items({"enum": list(operator_names())}),
    page=record(url={"type": "string", "pattern": "^https://learn.microsoft.com/"}, date=TEXT),
    errata=items(
        record(
            id=TEXT,
            kind={"enum": ["error", "silence", "contradiction"]},
            page=TEXT,
            holds=TEXT,
            basis={"enum": list(BASES)},
            measured={"type": "boolean"},
            source={"type": "string", "minLength": 1},
        )
    ),
    recipes=items(
        record(
            title=TEXT,
            text=SENTENCE,
            asked=items(record(thread=TEXT, source={"type": "string", "pattern": "^https://github.com/"})),
            desc={"type": "object", "minProperties": 1},
            inputs={"type": "object"},
            outputs={"type": "object", "minProperties": 1},
        )
    ),
    unspecified=items(TEXT),
    undefined=items(
        record(
            kind={"enum": ["undefined", "alternatives"]},
            condition=SENTENCE,
            reason={"type": "string"},
            outcomes=items(SENTENCE),
            reference={"type": "string"},
            measured=MEASURED,
        )
    ),
    measured=MEASURED,
    executed=items(
        record(directml=TEXT, device=TEXT, date=DATE, cases=COUNT, **dict.fromkeys(CaseCounts._fields, COUNT))
    ),
    known_deviations=items(
        record(
            text=TEXT,
            versions=TEXT,
            source=TEXT,
            since=VERSION_OR_NONE,
            until=VERSION_OR_NONE,
            as_of={"type": ["string", "null"], "pattern": "^20[0-9]{2}(-[01][0-9])?$"},
            device={"type": ["string", "null"]},
            graphs_alone={"type": "boolean"},
            conditions={"type": "object", "propertyNames": {"enum": ["when", "absent", "strided", "where", "values"]}},
            gives={"type": ["string", "null"]},
            as_if={"type": ["object", "null"], "additionalProperties": TEXT},
            refusal={"type": ["string", "null"], "pattern": "^0x8[0-9A-F]{7}$"},
        )
    ),
    deviations_of={
        "type": "object",
        "propertyNames": {"enum": ["onnxruntime"]},
        "additionalProperties": items(record(text=TEXT, versions=TEXT, source=TEXT)),
    },
    names={"type": "object", "propertyNames": {"enum": ["ONNX", "WebNN"]}, "additionalProperties": items(TEXT)},
    differences=items(record(name=TEXT, text=TEXT, source=TEXT)),
    tolerance=items(TOLERANCE),
    half={
        "oneOf": [
            {"type": "null"},
            record(
                values=items(TEXT),
                source=TEXT,
                given=items(TEXT),
                stored={"enum": ["", "stored", "parts", "named"]},
                parts_beyond={"type": ["integer", "null"]},
                has_narrow_functions={"type": "boolean"},
                has_one_cause={"type": "boolean"},
            ),
        ]
    },
    reference={"type": "boolean"},
)


@pytest.mark.slow
def test_all_operators_are_shown_as_the_schema_says_and_one_as_among_all() -> None:
    read = json.loads(dmlcheck("show", "--format", "json").stdout)
    level = record(
        level=LEVEL,
        value=TEXT,
        directml=TEXT,
        windows={"type": ["string", "null"]},
        asked=items(RELEASE),
        evidence=SENTENCE,
    )
    windows = record(name=TEXT, build=COUNT, directml=TEXT, level=LEVEL)
    jsonschema.validate(read, record(operators=items(OPERATOR), levels=items(level), windows=items(windows)))
    assert [operator["operator"] for operator in read["operators"]] == list(operator_names())
    assert json.loads(dmlcheck("show", "GEMM", "--format", "json").stdout) in read["operators"]


def test_what_a_page_prints_is_in_its_json() -> None:
    read = json.loads(dmlcheck("show", "CONVOLUTION", "--format", "json").stdout)
    fields = {field["name"]: field for field in read["fields"]}
    assert fields["DimensionCount"]["optional"] is True  # it follows from its arrays
    assert fields["Strides"]["optional"] is False
    assert (fields["Mode"]["enum"], fields["Mode"]["values"]) == (
        "DML_CONVOLUTION_MODE",
        ["CONVOLUTION", "CROSS_CORRELATION"],
    )
    conditions = {row["id"]: row["conditions"] for row in read["constraints"]}
    assert (conditions["C4"], conditions["C7"]) == ({}, {"when": {"Direction": ["FORWARD"]}})
    assert (conditions["C14"], conditions["C15"]) == ({"until": "6_0"}, {"since": "6_0"})
    printed = " ".join(dmlcheck("show", "CONVOLUTION").stdout.split())
    told = [*read["formula"], read["page"]["url"], *(field["about"] for field in read["fields"])]
    assert [text for text in told if text not in printed] == []


def test_a_field_has_the_limits_that_its_constraints_give_it() -> None:
    read = json.loads(dmlcheck("show", "LP_NORMALIZATION", "--format", "json").stdout)
    fields = {field["name"]: field for field in read["fields"]}
    assert fields["P"]["limits"] == [{"constraint": "C5", "word": "one_of", "argument": [1, 2]}]
    assert fields["Epsilon"]["limits"] == []
    assert fields["Epsilon"]["typical"] == 1e-05
    assert fields["InputTensor"]["typical"] is None


def test_undefined_results_are_told_as_parts_and_in_one_text() -> None:
    read = json.loads(dmlcheck("show", "ROI_POOLING", "--format", "json").stdout)
    assert [row["kind"] for row in read["undefined"]] == ["alternatives", "undefined", "undefined", "undefined"]
    assert read["undefined"][0]["outcomes"][2] == "It is rounded away from 0."
    texts = []
    for row in read["undefined"][1:]:
        (measured,) = row["measured"]
        where = f"Measured: {measured['library']} on {measured['device']}, {measured['date']}."
        texts.append(" ".join(filter(None, (row["condition"], row["reference"], measured["text"], where))))
    assert read["unspecified"] == texts
    printed = " ".join(dmlcheck("show", "ROI_POOLING").stdout.split())
    assert "1. It is rounded to the even number. 2. It is rounded to the larger number. 3." in printed
    assert " ".join(f"- {text}" for text in read["unspecified"]) + " - The sign of a zero" in printed


def test_a_known_deviation_has_its_versions_and_its_device_as_data() -> None:
    rows = json.loads(dmlcheck("show", "CONVOLUTION", "--format", "json").stdout)["known_deviations"]
    assert [(row["since"], row["until"], row["device"]) for row in rows] == [
        (None, None, None),
        ("1.7.0", "1.8.2", None),
        (None, None, "Intel(R) Iris(R) Xe"),
        (None, None, None),
        (None, None, None),
        (None, "1.15.0", None),
        *[(None, None, None)] * 5,
    ]
    assert rows[1]["conditions"] == {"where": "GroupCount > 1 and len(InputTensor.Sizes) == 4"}
    assert (rows[2]["as_of"], rows[2]["graphs_alone"]) == ("2023-12", False)
    (row,) = json.loads(dmlcheck("show", "ELEMENT_WISE_ROUND", "--format", "json").stdout)["known_deviations"]
    assert row["conditions"] == {"when": {"RoundingMode": ["TOWARD_INFINITY"]}, "values": "isfinite(InputTensor)"}
    assert row["gives"] == "sign(InputTensor) * floor(abs(InputTensor) + 0.5)"


def test_recipes_are_printed_and_their_cases_are_data() -> None:
    read = json.loads(dmlcheck("show", "REDUCE", "--format", "json").stdout)["recipes"][0]
    assert read["asked"] == [{"thread": "LBANN/lbann#474", "source": "https://github.com/LBANN/lbann/issues/474"}]
    assert (read["desc"]["Axes"], read["outputs"]) == ([0, 1], {"OutputTensor": [654321]})
    printed = " ".join(dmlcheck("show", "REDUCE").stdout.split())
    assert f"- {read['title']}: {read['text']}" in printed


def test_a_level_has_the_first_directml_and_windows() -> None:
    levels = {each["level"]: each for each in levels_dict()}
    assert levels["5_0"] == {
        "level": "5_0",
        "value": "0x5000",
        "directml": "1.8.0",
        "windows": "Windows 11 22H2",
        "asked": ["1.8.2"],
        "evidence": "DirectML 1.8.2 has this level, and was asked which descs it accepts.",
    }
    assert levels["4_0"]["asked"] == []
    assert levels["3_1"]["windows"] == "Windows 11 21H2"
    assert levels["6_4"]["windows"] is None


def test_the_releases_that_do_otherwise_are_data_and_printed() -> None:
    read = json.loads(dmlcheck("show", "LOCAL_RESPONSE_NORMALIZATION", "--format", "json").stdout)
    rows = {row["id"]: row for row in read["constraints"]}
    assert (rows["C1"]["basis"], rows["C1"]["taken"], rows["C3"]["taken"]) == ("documentation", [], ["1.4.0"])
    printed = dmlcheck("show", "LOCAL_RESPONSE_NORMALIZATION").stdout
    assert "  C3  LocalSize is at least 1.\n      DirectML 1.4.0 accepts a desc that breaks it\n" in printed
    read = json.loads(dmlcheck("show", "SLICE", "--format", "json").stdout)
    assert {row["id"]: row["basis"] for row in read["constraints"]}["C7"] == "measured"
    assert "is from 1 to 2147483647.\n      Basis: measured\n" in dmlcheck("show", "SLICE").stdout


def test_types_beyond_the_tables_are_data_and_printed() -> None:
    read = json.loads(dmlcheck("show", "ELEMENT_WISE_ADD", "--format", "json").stdout)
    tensors, types = ["ATensor", "BTensor", "OutputTensor"], ["INT16", "INT8", "UINT16", "UINT8"]
    assert read["taken"] == [
        {"tensors": tensors, "types": types, "dims": [], "operators": {}, "releases": ["1.4.0", "1.5.1"]}
    ]
    told = f"  -   {', '.join(tensors)}: {' '.join(types)} (DirectML 1.4.0 to 1.5.1)\n"
    assert f"\nBeyond the tables (measured)\n{told}" in dmlcheck("show", "ELEMENT_WISE_ADD").stdout
    assert "Beyond the tables" not in dmlcheck("show", "ELEMENT_WISE_SUBTRACT").stdout


def test_operators_that_may_stand_inside_are_data_and_printed() -> None:
    read = json.loads(dmlcheck("show", "BATCH_NORMALIZATION", "--format", "json").stdout)
    fused = {"FusedActivation": ["ACTIVATION_SWISH", "ACTIVATION_HARD_SWISH"]}
    assert fused in [row["operators"] for row in read["taken"]]
    told = "  -   FusedActivation: ACTIVATION_SWISH ACTIVATION_HARD_SWISH (DirectML 1.13.1 to 1.15.4)\n"
    assert told in dmlcheck("show", "BATCH_NORMALIZATION").stdout
    read = json.loads(dmlcheck("show", "ACTIVATION_SOFTPLUS", "--format", "json").stdout)
    assert {row["id"]: row["taken_inside"] for row in read["constraints"]}["C4"][0] == "1.4.0"
    assert "accept an operator that breaks it inside another one\n" in dmlcheck("show", "ACTIVATION_SOFTPLUS").stdout


def test_a_release_without_the_operator_takes_none_of_its_descs() -> None:
    read = json.loads(dmlcheck("show", "AVERAGE_POOLING1", "--format", "json").stdout)
    taken = {row["id"]: row["taken"] for row in read["constraints"]}
    assert taken["C5"] == ["1.13.1", "1.14.2", "1.15.4"]


# ---- the record of an operator, from which its page and its JSON are made


def test_a_record_has_what_follows_from_spec_and_text() -> None:
    record = operator_record(load_spec("DML_OPERATOR_TOP_K1"))
    assert record.about.purpose.startswith("Finds the K largest or K smallest elements")
    assert record.formula[0].startswith("The K smallest or largest elements of each sequence")
    assert ("PyTorch", "torch.topk") in {(each.library, each.name) for each in record.counterparts}
    assert record.older == "DML_OPERATOR_TOP_K"
    assert record.version.added == ("AxisDirection",)
    assert [each.operator for each in record.versions] == ["DML_OPERATOR_TOP_K", "DML_OPERATOR_TOP_K1"]


# ---- what the kernels say of themselves is what they compute


KERNELS = [name for name in operator_names() if load_spec(name).kernel]
PLAIN = {"add", "subtract", "multiply", "square"}


def named(operator: str, data_type: str = "FLOAT32") -> dict[str, str]:
    return dict(rounding_texts(f"DML_OPERATOR_{operator}", data_type))


@pytest.mark.parametrize(
    ("operator", "texts"),
    [
        ("ACTIVATION_SOFTSIGN", ["x / (1 + |x|)."]),
        (
            "SPACE_TO_DEPTH",
            [
                (
                    "Output[n, (row * BlockSize + column) * C + c, y, x] = "
                    "Input[n, c, y * BlockSize + row, x * BlockSize + column]."
                ),
                (
                    "C is the number of channels of InputTensor. With COLUMN_ROW_DEPTH the channel is "
                    "(c * BlockSize + row) * BlockSize + column."
                ),
            ],
        ),
        ("ELEMENT_WISE_EXP", []),  # a function of NumPy
        ("ELEMENT_WISE_ERF", []),  # one that NumPy has not
        ("ELEMENT_WISE_MODULUS_FLOOR", []),
    ],
)
def test_the_formula_is_told_in_the_words_of_the_kernel(operator: str, texts: list[str]) -> None:
    assert formula_texts(f"DML_OPERATOR_{operator}") == texts


def test_a_formula_is_one_line_and_what_follows_has_no_lines() -> None:
    texts = [formula_texts(operator) for operator in KERNELS]
    formulas, all_lines = [text for found in texts for text in found[:1]], [text for found in texts for text in found]
    assert [text for text in formulas if len(text) > 200] == []
    assert [text for text in all_lines if not re.fullmatch(r"\S[^\n]*\.", text)] == []


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("ELEMENT_WISE_ABS", False),
        ("ELEMENT_WISE_EXP", True),
        ("ELEMENT_WISE_QUANTIZE_LINEAR", True),
        ("ACTIVATION_RELU", False),
        ("ACTIVATION_HARDMAX", False),
        ("ACTIVATION_HARDMAX1", False),
        ("ARGMAX", False),
        ("ARGMIN", False),
        ("REDUCE", True),
    ],
)
def test_what_only_chooses_elements_computes_nothing(operator: str, expected: bool) -> None:
    assert is_computed(f"DML_OPERATOR_{operator}") is expected


@pytest.mark.parametrize(
    ("operator", "functions"),
    [
        ("ELEMENT_WISE_ADD", set()),
        ("ELEMENT_WISE_EXP", {"exp"}),
        ("ELEMENT_WISE_ERF", {"erf"}),
        ("ELEMENT_WISE_DIVIDE", {"divide"}),
        ("ELEMENT_WISE_MODULUS_TRUNCATE", {"divide", "fmod"}),
        ("ACTIVATION_SOFTSIGN", {"divide"}),
        ("ACTIVATION_SIGMOID", {"divide", "exp"}),
        ("ACTIVATION_SWISH", {"divide", "exp"}),
        ("ACTIVATION_LOG_SOFTMAX", {"exp", "log1p"}),
        ("REDUCE", {"divide", "exp", "log", "log1p", "sqrt"}),
    ],
)
def test_the_functions_in_a_formula_are_named(operator: str, functions: set[str]) -> None:
    assert named(operator).keys() == functions


def test_a_function_is_named_with_its_rounding_in_the_type_and_the_source() -> None:
    (exp,) = named("ELEMENT_WISE_EXP").values()
    assert exp.startswith("4 ULP, and 1 ULP of the operand (HLSL, exp (sm4 - asm): ")
    (exp,) = named("ELEMENT_WISE_EXP", "FLOAT16").values()
    assert exp.startswith("1 ULP, and 2 ULP of the operand (WGSL, ")
    assert named("ACTIVATION_ELU") == {"expm1": "as exp(x) - 1: HLSL has no other way"}
    assert rounding_limits("DML_OPERATOR_ACTIVATION_ELU") == [("expm1", [("", "as exp(x) - 1: HLSL has no other way")])]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Gather the names of the functions whose roundings are asked for, but those inside the formula of another."""
    found: set[str] = set()
    depth = [0]
    rounding, formula = elementwise.rounding, elementwise._of_a_formula

    def noted(name: str, data_type: str, **given: Any) -> Any:
        if not depth[0]:
            found.add(name)
        return rounding(name, data_type, **given)

    def inside(*args: Any) -> Any:
        depth[0] += 1
        try:
            return formula(*args)
        finally:
            depth[0] -= 1

    def deeper(function: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any) -> Any:
            depth[0] += 1
            try:
                return function(*args)
            finally:
                depth[0] -= 1

        return noting

    monkeypatch.setattr(elementwise, "rounding", noted)
    monkeypatch.setattr(elementwise, "_of_a_formula", inside)
    monkeypatch.setattr(Nested, "_of_numbers", deeper(Nested._of_numbers))  # whose functions are on their own pages
    return found


def form_of(value: Any) -> Any:
    """Return what a desc gives but for sizes and other lists, on which no function depends."""
    if isinstance(value, dict):
        return tuple((name, form_of(part)) for name, part in sorted(value.items()))
    return type(value) if isinstance(value, list) else value


def of_each_form(operator: str) -> Iterator[Case]:
    """Yield the first case with inputs of each form of a desc."""
    seen = set()
    for case in cases_of(operator):
        if case.inputs is None or case.invalid is not None or form_of(case.desc) in seen:
            continue
        seen.add(form_of(case.desc))
        yield case


@pytest.mark.slow
@pytest.mark.parametrize("operator", KERNELS)
def test_the_functions_that_are_computed_with_are_named_and_no_others(operator: str, asked: set[str]) -> None:
    for case in of_each_form(operator):
        prepared = prepare(case)
        desc = prepared.desc
        assert desc is not None
        if prepared.findings or sum(part.tensor.element_count for part in desc.tensors()) > 10_000:
            continue
        every = {part.label: np.ones(part.tensor.sizes, bool) for part in desc.tensors(OUTPUT)}
        assert list(bounds(desc, prepared.inputs, every))
    assert (asked - PLAIN) & ROUNDINGS.keys() == set(load_spec(operator).functions)
