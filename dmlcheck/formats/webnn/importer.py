"""The W3C's conformance tests of WebNN as case files: a case for each test that is one operator of DirectML."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import cut, visible
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, apart, write_cases
from dmlcheck.folders.export_folder import Folder, Imported, free_name, import_all, safe_name
from dmlcheck.formats.webnn.graph import GraphTest, Operand, WebnnOperator, name_of, read_test, tolerance_of
from dmlcheck.formats.webnn.javascript import Script, read, require
from dmlcheck.formats.webnn.literals import NotData, Wrong
from dmlcheck.formats.webnn.operators import elementwise, layers, windows
from dmlcheck.formats.webnn.operators.elementwise import FUSED
from dmlcheck.formats.webnn.operators.row import Call, WebnnRow
from dmlcheck.formats.webnn.suite import CheckedByCode, Stated, Suite, suites
from dmlcheck.formats.webnn.values import ScriptValue
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.case import case_of
from dmlcheck.onnx.descs.node import Unmapped

_MOST_ELEMENTS = 2**26  # of the tensors of a file
_TOO_MANY = f"the tests of a file have at most {_MOST_ELEMENTS:,} elements"
_CODE = "a function of the file checks its results, and dmlcheck does not run it"
_NONE = "left out: no test of webnn_conformance_test is written in it"


class _LeftOut(NamedTuple):
    """A test that cannot become a case, and the reason."""

    name: str
    reason: str


_Found = Written | _LeftOut | Diagnostic


def import_(paths: Iterable[str], folder: str) -> list[Imported]:
    """Write a case file for each file of tests, and return the result for each file.

    OSError when the folder cannot be written, Occupied when it holds something else than an earlier import,
    MissingRequirement without a parser of JavaScript.
    """
    require()
    return import_all(paths, folder, FORM, _imported)


def _imported(path: str, place: Folder, taken: set[str]) -> Imported:
    script = read(path)
    document = script.document
    if script.root is None:
        return Imported(document.name, problems=tuple(document.problems), document=document)
    found = list(_tests(script))
    cases = [one for one in found if isinstance(one, Written)]
    problems = tuple(one for one in found if isinstance(one, Diagnostic))
    left_out = tuple(
        dict.fromkeys(f"left out: {one_line(one.name)}: {one.reason}" for one in found if isinstance(one, _LeftOut))
    )
    if not cases:
        return Imported(
            document.name, remarks=left_out or (() if problems else (_NONE,)), problems=problems, document=document
        )
    stem = free_name(safe_name(os.path.basename(path).split(".", maxsplit=1)[0]), taken)
    comment = f"From {one_line(document.name)} by dmlcheck {__version__}: the W3C's tests of WebNN."
    file = write_cases(place, stem, apart(cases), comment)
    return Imported(document.name, file, len(cases), left_out, problems, document)


def _tests(script: Script) -> Iterator[_Found]:
    """Yield the case of each test of a file, or the reason why there is none, or its diagnostic."""
    room = _MOST_ELEMENTS
    for suite in suites(script):
        if isinstance(suite, CheckedByCode):
            yield _LeftOut(suite.name or f"the test of {script.where(suite.node)}", _CODE)
        elif not isinstance(suite, Suite):
            yield _unread(script, f"the tests of {script.where(suite.node)}", suite)
        else:
            for test in suite.tests:
                made = _case(script, test, suite.stated)
                if isinstance(made, Written):
                    room -= sum(part.tensor.element_count for parts in made.desc.parts.values() for part in parts)
                    made = made if room >= 0 else _LeftOut(made.name, _TOO_MANY)
                yield made


def _unread(script: Script, name: str, reason: NotData | Wrong) -> _Found:
    """Return the reason why a test is left out, or its diagnostic."""
    if isinstance(reason, Wrong):
        return script.diagnostic(reason.node, f"{visible(name)}: {reason}")
    return _LeftOut(name, f"{reason} ({script.where(reason.node)})")


def _case(script: Script, value: ScriptValue, stated: Stated | None) -> _Found:
    name = f"the test of {script.where(value.node)}"
    try:
        name = name_of(value)
        test = read_test(value)
        row, call = counterpart_call(test)
        source = f"WebNN conformance test {one_line(name)}, {os.path.basename(script.document.name)}"
        case = case_of(row.make(call), source=source, tolerance=tolerance_of(test, stated))
        return case._replace(name=one_line(name))
    except (NotData, Wrong) as reason:
        return _unread(script, name, reason)
    except Unmapped as reason:
        return _LeftOut(name, str(reason))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return _LeftOut(name, f"its operators do not go with its values: {error}")


# ---- fusion of a test into one operator of DirectML


_FLOATS = ("FLOAT32", "FLOAT16")
_MOST_NAME = 60  # characters
_MOST_NAMED = 10  # operators


def counterpart_call(test: GraphTest) -> tuple[WebnnRow, Call]:
    """Return the operator of a test after fusion; Unmapped if several are left, or Chromium does not map it."""
    for operator in test.operators:
        if operator.name in OF_SEVERAL:
            raise Unmapped(
                f"{operator.name} becomes {' and '.join(OF_SEVERAL[operator.name])}, and a case has one operator"
            )
        if operator.name not in OPERATORS:
            raise Unmapped(f"no operator of DirectML is known for {_shown(operator.name)}")
    uses = Counter([*(name for one in test.operators for name in _read(one)), *test.expected])
    operators = list(test.operators)
    activation = _take_activation(operators, uses, test)
    swapped = _take_transposes(operators, uses)
    if len(operators) != 1:
        names = [_shown(one.name) for one in operators[:_MOST_NAMED]]
        more = "" if len(operators) <= _MOST_NAMED else " ..."
        left = f"{len(operators)} operators are left after fusion"
        raise Unmapped(f"{left}, and a case has one: {', '.join(names)}{more}")
    return _call(test, operators[0], activation, swapped)


def _read(operator: WebnnOperator) -> Iterator[str]:
    for value in (*operator.given, *operator.options.values()):
        yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, Operand))


def _take_activation(operators: list[WebnnOperator], uses: Mapping[str, int], test: GraphTest) -> dict[str, Any] | None:
    """Remove an activation that follows the operator before it, and return its fields."""
    if len(operators) < 2:
        return None
    base, last = operators[-2:]
    is_next = last.name in FUSED and last.given == (*base.outputs,) and uses[base.outputs[0]] == 1
    if not is_next or not OPERATORS[base.name].takes_activation or not _is_float(test, last):
        return None
    operator, fields = FUSED[last.name]
    operators[-2:] = [base._replace(outputs=last.outputs)]
    return {"Type": operator, **fields(Call(last.name, last.options, ()))}


def _is_float(test: GraphTest, operator: WebnnOperator) -> bool:
    return all(test.expected[name].data_type in _FLOATS for name in operator.outputs if name in test.expected)


def _take_transposes(operators: list[WebnnOperator], uses: Mapping[str, int]) -> dict[str, str]:
    """Remove transposes of the last two dimensions before a matmul; return their inputs by their outputs."""
    last = operators[-1] if operators else None
    if last is None or last.name != "matmul":
        return {}
    taken = {}
    for operator in operators[:-1]:
        order = operator.options.get("permutation")
        is_read = operator.name == "transpose" and operator.outputs[0] in last.given and uses[operator.outputs[0]] == 1
        if is_read and len(operator.outputs) == len(operator.given) == 1 and _swaps_last(order):
            taken[operator.outputs[0]] = str(operator.given[0])
    operators[:] = [one for one in operators if one.outputs[:1] == () or one.outputs[0] not in taken]
    return taken


def _swaps_last(order: Any) -> bool:
    if not isinstance(order, list) or len(order) < 2:
        return False
    rank = len(order)
    return order == [*range(rank - 2), rank - 1, rank - 2]


def _call(
    test: GraphTest, operator: WebnnOperator, activation: dict[str, Any] | None, swapped: Mapping[str, str]
) -> tuple[WebnnRow, Call]:
    row = OPERATORS[operator.name]
    if len(operator.given) > len(row.arguments):
        raise Unmapped(f"{operator.name} is called with {len(operator.given)} arguments, and has {len(row.arguments)}")
    named = dict(zip(row.arguments, operator.given, strict=False))
    transposed = frozenset(name for name, value in named.items() if isinstance(value, str) and value in swapped)
    given = {name: _bound(test, value, swapped) for name, value in {**named, **operator.options}.items()}
    missing = next((name for name in operator.outputs if name not in test.expected), None)
    if missing is not None or not operator.outputs:
        raise Unmapped(f"no values are expected of {_shown(missing or 'the output')}")
    outputs = tuple(test.expected[name] for name in operator.outputs)
    return row, Call(operator.name, given, outputs, activation, transposed)


def _bound(test: GraphTest, value: Any, swapped: Mapping[str, str]) -> Any:
    """Return an operator's argument, with tensors in place of their names."""
    if isinstance(value, list):
        return [_bound(test, one, swapped) for one in value]
    if not isinstance(value, Operand):
        return value
    name = swapped.get(value, str(value))
    tensor: TensorRef | None = test.inputs.get(name)
    if tensor is None:
        raise Unmapped(f"{_shown(name)} is no input of the test")
    return tensor


def _shown(name: str) -> str:
    return cut(visible(name), _MOST_NAME)


# ---- the table of WebNN's operators, mapped to DirectML's as in Chromium's DirectML backend

# The source is services/webnn/dml/graph_impl_dml.cc of Chromium, at the highest feature level. Copies that it makes (a
# transpose for another layout, joined biases) are strides here, or are made in the values.


OPERATORS: dict[str, WebnnRow] = {
    **elementwise.OPERATORS,
    **layers.OPERATORS,
    **windows.OPERATORS,
}
# Operators that Chromium builds from several of DirectML's.
OF_SEVERAL = {"notEqual": ("ELEMENT_WISE_LOGICAL_EQUALS", "ELEMENT_WISE_LOGICAL_NOT")}
