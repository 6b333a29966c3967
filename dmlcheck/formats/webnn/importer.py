"""The W3C's conformance tests of WebNN as case files: a case for each test that is one operator of DirectML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dmlcheck import __version__
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import visible
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import FORM, Written, write_cases
from dmlcheck.folders.export_folder import Folder, free_name, safe_name
from dmlcheck.folders.exporting import Imported, import_all
from dmlcheck.formats.webnn.fusion import counterpart_call
from dmlcheck.formats.webnn.graph import name_of, read_test
from dmlcheck.formats.webnn.javascript import Script, read, require
from dmlcheck.formats.webnn.literals import NotData, Wrong
from dmlcheck.formats.webnn.suite import CheckedByCode, Stated, Suite, suites
from dmlcheck.formats.webnn.tolerances import tolerance_of
from dmlcheck.formats.webnn.values import ScriptValue
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
    file = write_cases(place, stem, _named(cases), comment)
    return Imported(document.name, file, len(cases), left_out, problems, document)


def _named(cases: list[Written]) -> list[Written]:
    """Return cases with unique names."""
    taken: set[str] = set()
    return [case._replace(name=free_name(case.name, taken)) for case in cases]


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
                    room -= _size(made)
                    made = made if room >= 0 else _LeftOut(made.name, _TOO_MANY)
                yield made


def _unread(script: Script, name: str, reason: NotData | Wrong) -> _Found:
    """Return the reason why a test is left out, or its diagnostic."""
    if isinstance(reason, Wrong):
        return script.diagnostic(reason.node, f"{visible(name)}: {reason}")
    return _LeftOut(name, f"{reason} ({script.where(reason.node)})")


def _size(case: Written) -> int:
    return sum(part.tensor.element_count for parts in case.desc.parts.values() for part in parts)


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
