"""Whether the texts for readers in specs/about are whole, and agree with the spec and the cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dmlcheck.cases.records import Case
from dmlcheck.specs.about import AboutOperator, has_about, load_about, older_operator
from dmlcheck.specs.names import NEWEST_LEVEL, short_operator
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.validation import validate

MOST_WORDS = 25  # of a sentence


def about_problems(spec: OperatorSpec, cases: Sequence[Case]) -> Iterator[str]:
    """Yield the gaps and errors of an operator's file in specs/about; `cases` has the cases of its folder."""
    name = f"specs/about/{spec.short.lower()}.yaml"
    if not has_about(spec.operator):
        yield f"there is no {name}"
        return
    try:
        about = load_about(spec.operator)
    except ValueError as problem:
        yield str(problem)
        return
    yield from (f"{name}: {text}" for text in (*_text_problems(about), *_spec_problems(spec, about)))
    yield from (f"{name}: {text}" for text in _example_problems(about, cases))


def _text_problems(about: AboutOperator) -> Iterator[str]:
    for text in (about.purpose, about.changes, *about.where.values(), *(recipe.text for recipe in about.recipes)):
        for sentence in re.split(r"(?<=[.;])\s", text):
            if len(sentence.split()) > MOST_WORDS:
                yield f"a sentence has more than {MOST_WORDS} words: {sentence}"
    for text in filter(None, (about.purpose, about.changes)):
        if not text.endswith("."):
            yield f"a sentence has no full stop: {text}"
    joined = " ".join(about.equations)
    yield from (f"no equation has the symbol {symbol}" for symbol in about.where if symbol not in joined)


def _spec_problems(spec: OperatorSpec, about: AboutOperator) -> Iterator[str]:
    older = older_operator(spec)
    if older is not None and not about.changes:
        yield f"changes must say what the operator changed of {short_operator(older)}"
    if older is None and about.changes:
        yield "changes is of no operator: there is none before this one"
    yield from (f"typical has {name}, which is not a field" for name in about.typical if name not in spec.fields)
    for recipe in about.recipes:
        _, findings = validate(spec.operator, recipe.desc, NEWEST_LEVEL)
        yield from (f"the desc of {recipe.title} is not valid: {finding.message}" for finding in findings)


def _example_problems(about: AboutOperator, cases: Sequence[Case]) -> Iterator[str]:
    case = example(about, cases)
    if case is None:
        yield f"the example {about.example} is not a case of the operator"
    elif not case.gives_outputs or case.source is None:
        yield f"the example {about.example} must give outputs and say their source"


def example(about: AboutOperator, cases: Sequence[Case]) -> Case | None:
    """Return the case that is an operator's example, or None."""
    return next((case for case in cases if case.id.endswith("/" + about.example)), None)
