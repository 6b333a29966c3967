"""Every rule that a diagnostic can name, with its group and the template of its message."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One kind of mistake: its group, and the template that the words of a finding fill in."""

    group: str
    message: str


# The pages that `explain` prints are in the folder pages.
RULES: dict[str, Rule] = {
    # ---- file
    "file-not-found": Rule("file", "{path}: {problem}"),
    "yaml-syntax": Rule("file", "{problem}"),
    "onnx-syntax": Rule("file", "{problem}"),
    "graph-syntax": Rule("file", "{problem}"),
    "webnn-syntax": Rule("file", "{problem}"),
    "dangling-edge": Rule("file", "{problem}"),
    "edge-mismatch": Rule("file", "{problem}"),
    "runs-elsewhere": Rule("file", "{problem}"),
    "no-provider": Rule("file", "{problem}"),
    "provider-refuses": Rule("file", "{problem}"),
    "unknown-sizes": Rule("file", "{problem}"),
    "not-mapped": Rule("file", "{problem}"),
    "duplicate-key": Rule("file", "the key {key} occurs twice in this mapping, first on line {first}"),
    "unknown-key": Rule("file", "{where} has no key {key}"),
    "missing-key": Rule("file", "{where} needs the key {key}"),
    "wrong-type": Rule("file", "{what} is {found}; it must be {expected}"),
    "duplicate-name": Rule("file", "the name {name} is used twice{where}"),
    "file-too-large": Rule("file", "{path} {problem}"),
    "too-many-problems": Rule("file", "{path} has more than {most:,} problems; {rest}"),
    "unmatched-expectation": Rule("file", "no case of this run has an id like {glob}"),
    "expired-expectation": Rule("file", "this entry expired on {date}; today is {today}"),
    "not-directml": Rule(
        "file", "the dispatchable {name} is of type {type}, not a DirectML operator; it is not checked"
    ),
    # ---- desc
    "unknown-operator": Rule("desc", "{found} is not an operator that dmlcheck knows"),
    "unknown-field": Rule("desc", "{operator} has no field {field}"),
    "missing-field": Rule("desc", "{operator} needs the field {field}"),
    "excluded-field": Rule("desc", "{field} may not be given {why}"),
    "field-type": Rule("desc", "{field} is {found}; it must be {expected}"),
    "unknown-enum-value": Rule("desc", "{found} is not a value of {enum}"),
    "count-mismatch": Rule("desc", "{count} is {found}, and {array} has {length}"),
    # ---- tensor
    "invalid-sizes": Rule("tensor", "{tensor}.Sizes {problem}"),
    "invalid-strides": Rule("tensor", "{tensor}.Strides {problem}"),
    "tensor-too-small": Rule(
        "tensor", "{tensor}.TotalTensorSizeInBytes is {found}, but its elements need {needed} bytes"
    ),
    "invalid-alignment": Rule(
        "tensor",
        "{tensor}.GuaranteedBaseOffsetAlignment is {found}; it must be 0 or a power of two of at least {least}",
    ),
    "invalid-flags": Rule("tensor", "{tensor}.Flags is {found}; {problem}"),
    # ---- feature level
    "operator-unavailable": Rule("feature level", "{operator} does not exist at {level}"),
    "unsupported-dimension-count": Rule(
        "feature level", "{tensor} has {found}, which {operator} does not take at {level}"
    ),
    "unsupported-data-type": Rule("feature level", "{tensor} is {found}, which {operator} does not {verb} at {level}"),
    "unsupported-value": Rule("feature level", "{field} is {found}, which {operator} does not take at {level}"),
    # ---- operator
    "rank-mismatch": Rule("operator", "{tensor} has {found}, and {problem}"),
    "size-mismatch": Rule("operator", "{size} is {found}; it must be {limit}{expected}{worked}"),
    "data-type-mismatch": Rule("operator", "{tensor} is {found}, and {problem}"),
    "axis-out-of-range": Rule("operator", "{field} is {found}, and {tensor} has dimensions 0 to {last}"),
    "duplicate-axis": Rule("operator", "{field} is {found}, the axis that {first} names already"),
    "value-out-of-range": Rule("operator", "{field} is {found}; it must be {expected}{worked}"),
    "known-deviation": Rule("operator", "known of {of} ({versions}): {text} ({source})"),
    # ---- data
    "missing-tensor": Rule("data", "{tensor} has no values under {section}"),
    "unexpected-tensor": Rule("data", "{section} has values for {tensor}, {problem}"),
    "element-count": Rule("data", "{tensor} has {found}; {expected}"),
    "value-not-representable": Rule("data", "{element} is {found}, which {type} cannot hold"),
    "conflicting-elements": Rule(
        "data", "{element} is {found}, but an earlier element at the same place in the buffer is {expected}"
    ),
    "tensor-too-large": Rule("data", "{tensors} {need}, and this machine has {have} to spare"),
    "too-much-work": Rule("data", "{problem}"),
    # ---- run
    "output-mismatch": Rule("run", "{tensor} {problem}"),
    "unspecified-mismatch": Rule("run", "{element} {problem}"),
    "unlikely-error": Rule(
        "run", "{tensor}: {found} within the tolerance, but up to {share} times the likely error{also}"
    ),
    "systematic-error": Rule(
        "run",
        "{tensor}: the root mean square of the errors of {elements} is {share} times the likely error; "
        "it must be at most {most}{also}",
    ),
    "unlimited-tolerance": Rule(
        "run", "{tensor}: {found}, where the tolerance allows all that the operator can return"
    ),
    "inaccurate-expectation": Rule(
        "run", "{element} is expected to be {expected}, and the exact result is {exact}{error}{more}"
    ),
    "near-the-bound": Rule("run", "{element}: {error}, {share}"),
    "accuracy-drift": Rule("run", "{tensor}: {new}, and was {old}"),
    "diagnostics-mismatch": Rule("run", "{problem}"),
    "implementation-error": Rule("run", "{implementation} {problem}"),
    "invalid-desc-accepted": Rule("run", "{implementation} accepts a desc that {level} does not allow: {mistakes}"),
    "unforeseen-answer": Rule("run", "{answer}; dmlcheck foresees that it {foreseen} it"),
    "timeout": Rule("run", "no result after {seconds} s"),
    "flaky-case": Rule("run", "{problem}"),
    "skipped-case": Rule("run", "skipped: {reason}"),
    "unsupported-by-implementation": Rule("run", "{implementation} {problem}"),
}
