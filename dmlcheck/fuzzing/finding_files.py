"""The files of findings: a case each, whose outputs are the reference's, and which the implementation fails."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from dmlcheck import __version__
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.yaml_text import one_line
from dmlcheck.folders.case_file import Place, Written, write_cases
from dmlcheck.folders.export_folder import Folder, free_name, safe_name
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer
from dmlcheck.fuzzing.reducing import Failing, Taken
from dmlcheck.reference import engine
from dmlcheck.running.expectations import Expectations, names_of
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT

FORM = "findings"  # the format of the folder


class FindingSource(NamedTuple):
    """The text in the file of a finding besides the case: its origin, its level and its likely cause."""

    source: str
    level: str
    implementation: str
    cause: str = ""


class FindingFiles:
    """A folder to which findings are written one by one; it is made for the first, or an earlier one is cleared."""

    def __init__(self, folder: str) -> None:
        """Clear the folder of an earlier campaign; Occupied or OSError if that fails."""
        self.path = folder
        self.place = Folder(folder, FORM) if os.path.lexists(folder) else None
        self.taken: set[str] = set()

    def write(self, found: Failing | Taken, about: FindingSource) -> tuple[str, str]:
        """Write the case of a finding, and return the path of its file and its name."""
        self.place = self.place or Folder(self.path, FORM)
        name = free_name(finding_name(found.desc, found.answer), self.taken)
        file = write_finding(self.place, name, found, about)
        self.place.entries[file] = {"file": file, "case": name}
        return os.path.join(self.path, file), name

    def close(self) -> None:
        """Write the manifest, by which a later campaign may clear the folder."""
        if self.place is not None and not self.place.is_finished:
            self.place.finish([])


def finding_name(desc: OperatorDesc, answer: TrialAnswer) -> str:
    """Return the name of a finding: `gemm-output-mismatch-float16-nan`.

    The data type is the differing output's, and the name does not say that values differ.
    """
    difference = answer.difference or FailureKind("failed")
    words = [desc.spec.short.lower(), difference.rule]
    words += [part.tensor.data_type.lower() for part in desc.tensors(OUTPUT) if part.path[0] == difference.output][:1]
    if difference.rule == "output-mismatch" and difference.kind != "value":
        words.append(difference.kind.replace(" ", "-"))
    return safe_name("-".join(words))


class FilePlace:
    """A case file by its path, with the files of its larger values in a folder next to it, written over older ones."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.stem = os.path.splitext(os.path.basename(path))[0]

    def write(self, name: str, data: bytes) -> None:
        """Write the case file, or a file of values."""
        is_own = name == f"{self.stem}.yaml"
        path = self.path if is_own else os.path.join(os.path.dirname(self.path), *name.split("/"))
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


HEAD = rb"\A(#[^\n]*\n)+# Found by dmlcheck "  # how the file of a finding begins


def write_case(path: str, found: Failing | Taken, about: FindingSource) -> None:
    """Write a case file of its own; OSError where it cannot be written."""
    place = FilePlace(path)
    write_finding(place, place.stem, found, about)


def write_finding(place: Place, name: str, found: Failing | Taken, about: FindingSource) -> str:
    """Write a case file of one case, and return its name in the folder."""
    comment = f"{one_line(found.answer.message)}\nFound by dmlcheck {__version__} with {about.implementation!a}."
    return write_cases(place, name, [_case(name, found, about)], comment)


def _case(name: str, found: Failing | Taken, about: FindingSource) -> Written:
    more: dict[str, Any] = {
        "feature_level": None if about.level == NEWEST_LEVEL else about.level,
        "source": one_line(about.source),
        "note": f"likely cause: {one_line(about.cause)}" if about.cause else None,
    }
    if isinstance(found, Taken):
        return Written(name, found.desc, None, more={**more, "invalid": [found.entry]})
    if found.is_of_desc:
        return Written(name, found.desc, None, more=more)
    outputs = expected(found.desc, found.inputs, is_of_directml=found.answer.is_of_directml)
    return Written(name, found.desc, found.inputs, outputs, more)


def expected(desc: OperatorDesc, inputs: Mapping[str, Any], *, is_of_directml: bool) -> dict[str, Any]:
    """Return the reference's outputs by field; a mask hides what is undefined, for DirectML unless it was measured."""
    import numpy as np

    arrays: dict[str, Any] = {}
    for label, output in engine.evaluate(desc, dict(inputs)).items():
        mask = output.unknown if is_of_directml else output.undefined
        arrays[label] = output.values if mask is None else np.ma.MaskedArray(output.values, mask)
    return desc.by_field(arrays, OUTPUT)


# ---- known failures


class KnownFindings:
    """The failures that a file of expectations names, with the number of draws for each reason.

    An entry names a failure by the id that its finding would have: `findings/NAME.yaml::NAME`.
    """

    def __init__(self, expectations: Expectations | None, folder: str) -> None:
        """Take the expectations, None if there is no file of them, and the folder of the findings."""
        self.expectations = expectations
        self.folder = folder
        self.counts: Counter[str] = Counter()

    def is_known(self, desc: OperatorDesc, answer: TrialAnswer) -> bool:
        """Whether an entry expects this failure of a desc; if so, the failure is counted."""
        name = finding_name(desc, answer)
        return self.is_known_in(f"{name}.yaml", name, answer)

    def is_known_in(self, file: str, name: str, answer: TrialAnswer) -> bool:
        """Whether an entry expects this failure of a case of a file in the folder; if so, the failure is counted."""
        if self.expectations is None or answer.difference is None:
            return False
        path = os.path.join(self.folder, file)
        entry = self.expectations.of(names_of(f"{path}::{name}", path))
        if entry is None or entry.expect != answer.outcome or entry.is_worse({answer.difference.rule}, answer.max_ulp):
            return False
        self.counts[entry.because] += 1
        return True
