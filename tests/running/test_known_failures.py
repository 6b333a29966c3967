"""Which DirectML is judged, and what is expected of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.running.known_failures import DirectML, judged_directml, of_values, with_known
from dmlcheck.running.results import CaseResult, Ending
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.records import Deviation

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
    assert judged_directml(implementation, version) == directml


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
    result = CaseResult(Case("a", "a", "a.yaml", "ACTIVATION_RELU", None, {}), outcome, "why")
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
