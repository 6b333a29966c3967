"""Undefined elements of a case's outputs: the reference's, and the elements that the case marks with `any`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import brackets, counted

if TYPE_CHECKING:
    from dmlcheck.reference.engine import Array, ComputedOutput

Masks = Mapping[str, "Array"]


class _Disagreement(NamedTuple):
    """A disagreement of a case and the reference about undefined elements, and its remedy."""

    problem: str
    help: str


_NOT_OPEN = _Disagreement(
    "is `any`, but the result is defined: the reference engine gives {value}",
    "write the value; `any` is for elements that are undefined",
)
_NOT_ANY = _Disagreement(
    "is {value}, but the result is undefined, and the case has `any` for other elements",
    "write `any` here too; `dmlcheck show {operator}` lists what is undefined, and why",
)
_NOT_DOCUMENTED = _Disagreement(
    "is {value}, but the documentation leaves it undefined, and the case has the tag `documented`",
    "write `any`; or, if DirectML gives the value, leave the tag out and name its release in `source`",
)
_NOT_MEASURED = _Disagreement(
    "is {value}, which `source` says was measured, but the reference leaves it undefined",
    "write `any`: `dmlcheck show {operator}` lists what is undefined, and why",
)


def masks_of(computed: Mapping[str, ComputedOutput], *, with_measured: bool = False) -> Masks:
    """Return the undefined elements of outputs: a mask for each output that has some.

    `with_measured` is for DirectML: where its results were measured, they are defined.
    """
    marked = {name: output for name, output in computed.items() if output.undefined is not None}
    masks = {name: output.unknown if with_measured else output.undefined for name, output in marked.items()}
    return {name: mask for name, mask in masks.items() if mask is not None and mask.any()}


def union(some: Masks, others: Masks) -> Masks:
    """Return the union of two sets of masks, by output."""
    if not (some and others):
        return some or others
    return {name: _union(some.get(name), others.get(name)) for name in {**some, **others}}


def is_all_any(prepared: Prepared) -> bool:
    """Whether every expected element of a case is `any`."""
    is_any = prepared.is_any
    return bool(prepared.expected) and all(name in is_any and is_any[name].all() for name in prepared.expected)


def disagreements(
    case: Case, prepared: Prepared, given: Mapping[str, Any], is_undefined: Masks, is_open: Masks | None = None
) -> Iterator[Finding]:
    """Yield the disagreements of a case and the reference about undefined elements: a finding for each kind and output.

    `given` has the outputs of the reference, `is_undefined` the masks of its undefined elements, and `is_open` of those
    that are undefined but measured as well: a case may have the value or `any` for them, a documented one only `any`,
    and a measured one no value for an element of the first. A case without `any` says nothing else about undefined
    elements, and any value of it for one is right.
    """
    is_open = is_open or is_undefined
    if case.is_documented:
        to_mark, as_value = is_open, _NOT_DOCUMENTED
    elif case.is_measured:
        to_mark, as_value = is_undefined, _NOT_MEASURED
    elif prepared.is_any:
        to_mark, as_value = is_undefined, _NOT_ANY
    else:
        return
    for name, (_, expected) in prepared.expected.items():
        marked, wanted = to_mark.get(name), prepared.is_any.get(name)
        if marked is None and wanted is None:
            continue
        for mask, values, kind in (
            (_without(wanted, is_open.get(name)), given[name], _NOT_OPEN),
            (_without(marked, wanted), expected, as_value),
        ):
            if mask is not None and mask.any():
                yield _finding(case, name, mask, values, kind)


def _union(some: Array | None, others: Array | None) -> Any:
    return some if others is None else others if some is None else some | others


def _without(some: Array | None, others: Array | None) -> Array | None:
    """Return the elements of one mask that another lacks."""
    return some if some is None or others is None else some & ~others


def _finding(case: Case, name: str, mask: Array, values: Array, kind: _Disagreement) -> Finding:
    """Return the elements of a mask in words: the first, and their number."""
    import numpy as np

    first = tuple(int(index) for index in np.unravel_index(int(np.argmax(mask)), mask.shape))
    count = int(mask.sum())
    more = f" (and {counted(count - 1, 'more element')} like it)" if count > 1 else ""
    problem = kind.problem.format(value=values[first].item()) + more
    params = {"element": f"{name}{brackets(first)}", "problem": problem}
    path = path_in_case(name, case.outputs or {}, mask.shape, first)
    return Finding("unspecified-mismatch", path, params, help=kind.help.format(operator=case.operator))


# ---- the places of expected values in a case


def path_in_case(
    name: str, given: Mapping[str, Any], sizes: tuple[int, ...], element: tuple[int, ...] | None
) -> tuple[str | int, ...]:
    """Return the path to an element of an output.

    If no list has the element, or the case no value, it is the path to the tensor.

    `given` has the values that the case gives; `name` is the output's label, which may be `OutputTensors[1]`.
    """
    steps = _steps(name)
    if steps[0] not in given:  # compared with the reference engine's
        return ("desc", *steps)
    path: tuple[str | int, ...] = ("outputs", *steps)
    raw = given[steps[0]] if len(steps) == 1 else given[steps[0]][steps[1]]
    if element is not None and isinstance(raw, list):
        return (*path, *(element if isinstance(raw[0], list) else (_flat_index(element, sizes),)))
    return path


def written_at(
    name: str, given: Mapping[str, Any], tensor: TensorDesc, element: tuple[int, ...]
) -> tuple[tuple[str | int, ...], Any]:
    """Return the path to an element of an output in a case, and its text there.

    That is its place in a list, in the elements of a buffer or in bit patterns, or the number of a `fill`; for other
    forms the form itself.
    """
    steps = _steps(name)
    raw = given[steps[0]] if len(steps) == 1 else given[steps[0]][steps[1]]
    form = next(iter(raw), None) if isinstance(raw, Mapping) else None
    if form == "fill":
        return ("outputs", *steps, form), raw[form]
    listed = raw[form] if form in ("bits", "buffer") else raw
    path: tuple[str | int, ...] = ("outputs", *steps, *(() if listed is raw else (form,)))
    if not isinstance(listed, list):
        return path, None
    if isinstance(listed[0], list):
        for index in element:
            listed = listed[index]
        return (*path, *element), listed
    if form == "buffer" and tensor.strides is not None:
        index = sum(step * stride for step, stride in zip(element, tensor.strides, strict=True))
    else:
        index = _flat_index(element, tensor.sizes)
    return (*path, index), listed[index]


def _flat_index(element: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    index = 0
    for step, size in zip(element, sizes, strict=True):
        index = index * size + step
    return index


def _steps(name: str) -> tuple[Any, ...]:
    """Return `OutputTensors[1]` as the path to its values."""
    field, bracket, index = name.partition("[")
    return (field, int(index[:-1])) if bracket else (field,)
