"""Equations as MathML."""

from __future__ import annotations

import pytest
from lxml import etree

from dmlcheck.specs.about import load_about
from dmlcheck.specs.load import operator_names

mathml = pytest.importorskip("dmlcheck.reports.site.mathml").mathml

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def parts(equation: str, tag: str) -> list[str]:
    return [element.text or "" for element in etree.fromstring(mathml(equation)).iter(NAMESPACE + tag)]


def test_words_are_set_as_one_and_letters_as_variables() -> None:
    assert parts(r"y = Alpha \cdot x", "mtext") == ["Alpha"]
    assert parts(r"y = Alpha \cdot x", "mi") == ["y", "x"]
    assert parts(r"\text{two words} \cdot \max(Beta1, x)", "mtext") == ["two\xa0words", "Beta1"]


def test_an_equation_stands_on_a_line_of_its_own_and_fractions_stay_fractions() -> None:
    element = etree.fromstring(mathml(r"y = \frac{x}{Scale}"))
    assert element.get("display") == "block"
    assert len(list(element.iter(NAMESPACE + "mfrac"))) == 1


@pytest.mark.parametrize("operator", operator_names())
def test_every_equation_becomes_mathml_without_a_command_left(operator: str) -> None:
    for equation in load_about(operator).equations:
        element = etree.fromstring(mathml(equation))
        assert "\\" not in "".join(element.itertext())
