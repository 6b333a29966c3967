"""The constraint words: the claims that a labelled row of a spec can make of a desc, one small generator each.

A word yields a finding for every way in which a desc breaks the claim. It ignores missing fields and tensors, and those
that are wrong by themselves: other findings are about these. Words never compute results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import (
    ABSENT,
    AT_LEAST,
    AT_MOST,
    BETWEEN,
    DISTINCT,
    ELEMENTS,
    EQUAL,
    LENGTH,
    NOT_EQUAL,
    ONE_OF,
    PRESENT,
    RANK,
    Claim,
    Finding,
)
from dmlcheck.diagnostics.wording import braces, describe, dimensions_text, pointer
from dmlcheck.files.document import Path
from dmlcheck.validation.conditions import evaluate, nested, tensors_of
from dmlcheck.validation.worked import NOTHING_KNOWN, broken_claims, claimed, limit_relation, span_text, sum_text

Word = Callable[[OperatorDesc, Any], Iterator[Finding]]


def same_data_type(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """All the named tensors that are there have one data type."""
    for (label, path, tensor), model in _unlike(desc, names, lambda tensor: tensor.data_type):
        wanted = model.tensor.data_type
        yield _wrong_type(label, (*path, "DataType"), tensor.data_type, f"{model.label} is {wanted}", (wanted,))


def same_dimension_count(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """All the named tensors that are there have one number of dimensions."""
    for (label, path, tensor), model in _unlike(desc, names, lambda tensor: len(tensor.sizes)):
        wanted = len(model.tensor.sizes)
        yield _wrong_rank(label, path, len(tensor.sizes), wanted, f"{model.label} has {wanted}")


def same_sizes(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """All the named tensors that are there have the same sizes."""
    for (label, path, tensor), model in _unlike(desc, names, lambda tensor: tensor.sizes):
        yield from _compare_sizes(label, path, tensor, model.tensor.sizes)


def sizes(desc: OperatorDesc, claims: dict[str, Any]) -> Iterator[Finding]:
    """Each size of a tensor is the value of an expression of its dimension `i`, or of the expression at its place.

    A list has as many expressions as the tensor has dimensions; null allows any size.
    """
    for name, claim in claims.items():
        for label, path, tensor in desc.parts[name]:
            count = len(tensor.sizes)
            parts = claim if isinstance(claim, list) else [claim] * count
            expected = [evaluate(part, desc, i) for i, part in enumerate(parts)]
            if len(parts) == count and (isinstance(claim, list) or None not in expected):
                for finding in _compare_sizes(label, path, tensor, expected):
                    axis = int(finding.path[-1])
                    yield _with_sum(finding, parts[axis], desc, i=axis, own=f"{name}.Sizes[i]")


def sizes_are(desc: OperatorDesc, claims: dict[str, str]) -> Iterator[Finding]:
    """The sizes of a tensor are the list that an expression gives."""
    for name, expression in claims.items():
        expected = evaluate(expression, desc)
        for label, path, tensor in desc.parts[name]:
            if expected is not None and len(expected) == len(tensor.sizes):
                for finding in _compare_sizes(label, path, tensor, expected):
                    yield _with_sum(finding, expression, desc, at=int(finding.path[-1]))


def right_aligned_sizes(desc: OperatorDesc, claims: dict[str, list[Any]]) -> Iterator[Finding]:
    """The last sizes of a tensor are the values of expressions, and all sizes before them 1; null allows any size."""
    for name, expressions in claims.items():
        last = [evaluate(expression, desc) for expression in expressions]
        for label, path, tensor in desc.parts[name]:
            surplus = len(tensor.sizes) - len(last)
            if all(size in (1, None) for size in last[: max(0, -surplus)]):
                for finding in _compare_sizes(label, path, tensor, [1] * surplus + last[max(0, -surplus) :]):
                    place = int(finding.path[-1]) - surplus
                    yield _with_sum(finding, expressions[place] if place >= 0 else 1, desc)
            else:
                needed = len(last) - next(i for i, size in enumerate(last) if size not in (1, None))
                yield _wrong_rank(label, path, len(tensor.sizes), needed, f"it needs {needed}")


def broadcastable(desc: OperatorDesc, claims: dict[str, list[str]]) -> Iterator[Finding]:
    """Each size of some tensors is 1 or the size of another tensor."""
    for target, names in claims.items():
        whole = desc.tensor(target)
        if whole is None:
            continue
        for label, path, tensor in (part for name in names for part in desc.parts[name]):
            if len(tensor.sizes) == len(whole.sizes):
                pairs = zip(tensor.sizes, whole.sizes, strict=True)
                yield from _compare_sizes(label, path, tensor, [1 if own == 1 else wide for own, wide in pairs])


def element_count(desc: OperatorDesc, claims: dict[str, Any]) -> Iterator[Finding]:
    """A tensor has as many elements as a number or an expression says."""
    for name, claim in claims.items():
        expected = evaluate(claim, desc)
        for label, path, tensor in desc.parts[name]:
            if expected is not None and tensor.element_count != expected:
                params = _number_params(f"the number of elements of {label}", tensor.element_count, expected)
                own = Claim((*path, ELEMENTS), EQUAL, expected)
                yield _with_sum(Finding("size-mismatch", (*path, "Sizes"), params, claim=own), claim, desc)


def dimension_count(desc: OperatorDesc, claims: dict[str, Any]) -> Iterator[Finding]:
    """A tensor has as many dimensions as a number or an expression says."""
    for name, claim in claims.items():
        expected = evaluate(claim, desc)
        for label, path, tensor in desc.parts[name]:
            if expected is not None and len(tensor.sizes) != expected:
                yield _wrong_rank(label, path, len(tensor.sizes), expected, f"it must have {expected}")


def joined_along(desc: OperatorDesc, claim: dict[str, str]) -> Iterator[Finding]:
    """Along an axis the sizes of the parts add up to the whole's, and along all others they are the whole's."""
    whole, axis = desc.tensor(claim["whole"]), desc.values.get(claim["axis"])
    parts, given = desc.parts[claim["parts"]], desc.values.get(claim["parts"])
    if whole is None or axis is None or given is None or axis >= len(whole.sizes):
        return
    alike = [part for part in parts if len(part.tensor.sizes) == len(whole.sizes)]
    for label, path, tensor in alike:
        others = [None if i == axis else size for i, size in enumerate(whole.sizes)]
        yield from _compare_sizes(label, path, tensor, others)
    total = sum(part.tensor.sizes[axis] for part in alike)
    if len(alike) == len(given) and total != whole.sizes[axis]:
        path = (claim["whole"], "Sizes", axis)
        params = _size_params(claim["whole"], axis, whole.sizes[axis], total)
        worked = f" = {' + '.join(str(part.tensor.sizes[axis]) for part in alike)}" if len(alike) <= _MOST_ADDED else ""
        yield Finding("size-mismatch", path, {**params, "worked": worked}, claim=Claim(path, EQUAL, total))


# ---- data types


def data_type(desc: OperatorDesc, claims: dict[str, list[str]]) -> Iterator[Finding]:
    """The data type of a tensor is one of a list."""
    for name, types in claims.items():
        for label, path, tensor in desc.parts[name]:
            if tensor.data_type not in types:
                problem = f"it must be {' or '.join(types)}"
                yield _wrong_type(label, (*path, "DataType"), tensor.data_type, problem, types)


def data_type_of(desc: OperatorDesc, claims: dict[str, str]) -> Iterator[Finding]:
    """A field with a data type has the data type of a tensor."""
    for field, name in claims.items():
        found, tensor = desc.values.get(field), desc.tensor(name)
        if found is None or tensor is None or (name, "DataType") in desc.refused:
            continue
        if found != tensor.data_type:
            yield _wrong_type(field, (field,), found, f"{name} is {tensor.data_type}", (tensor.data_type,))


def axes_within(desc: OperatorDesc, claims: dict[str, str]) -> Iterator[Finding]:
    """Every axis of a field is a dimension of a tensor."""
    for field, name in claims.items():
        tensor = desc.tensor(name)
        if tensor is None or not tensor.sizes:
            continue
        last = len(tensor.sizes) - 1
        for label, path, axis in _axes(desc, field):
            if axis > last:
                params = {"field": label, "found": axis, "tensor": name, "last": last}
                yield Finding("axis-out-of-range", path, params, claim=Claim(path, AT_MOST, last))


def distinct_axes(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """No axis is named twice in a field."""
    for field in fields:
        seen: dict[int, tuple[str, Path]] = {}
        for label, path, axis in _axes(desc, field):
            if axis in seen:
                first, place = seen[axis]
                params, own = {"field": label, "found": axis, "first": first}, Claim(path, DISTINCT, place)
                yield Finding("duplicate-axis", path, params, help="name each axis once", claim=own)
            seen.setdefault(axis, (label, path))


def effective_dimension_count_at_most(desc: OperatorDesc, claims: dict[str, int]) -> Iterator[Finding]:
    """Every dimension of a tensor before its last few has size 1."""
    for name, most in claims.items():
        tensor = desc.tensor(name)
        for axis, size in enumerate(tensor.sizes[:-most] if tensor else ()):
            if size != 1:
                yield _wrong_size(name, (name,), axis, size, 1)


# ---- values of fields


def at_least(desc: OperatorDesc, claims: dict[str, Any]) -> Iterator[Finding]:
    """A field, or each of its elements, is no less than a number or an expression of `i`."""
    for field, claim in claims.items():
        for label, path, value, i in _values(desc, field):
            limit = evaluate(claim, desc, i)
            if limit is not None and not value >= limit:
                worked = sum_text(claim, desc, limit, i)
                yield _out_of_range(label, value, Claim(path, AT_LEAST, limit), worked)


def at_most(desc: OperatorDesc, claims: dict[str, Any]) -> Iterator[Finding]:
    """A field, or each of its elements, is no more than a number or an expression of `i`."""
    for field, claim in claims.items():
        for label, path, value, i in _values(desc, field):
            limit = evaluate(claim, desc, i)
            if limit is not None and not value <= limit:
                worked = span_text(claim, desc, value, i) or sum_text(claim, desc, limit, i)
                yield _out_of_range(label, value, Claim(path, AT_MOST, limit), worked)


def between(desc: OperatorDesc, claims: dict[str, list[Any]]) -> Iterator[Finding]:
    """A field, or each of its elements, is from one number or expression of `i` to another, both included."""
    for field, (low, high) in claims.items():
        for label, path, value, i in _values(desc, field):
            least, most = evaluate(low, desc, i), evaluate(high, desc, i)
            if least is not None and most is not None and not least <= value <= most:
                yield _out_of_range(label, value, Claim(path, BETWEEN, (least, most)))


def value(desc: OperatorDesc, claims: dict[str, Any]) -> Iterator[Finding]:
    """A field, or each of its elements, is a number or the value of an expression of `i`."""
    for field, claim in claims.items():
        for label, path, found, i in _values(desc, field):
            expected = evaluate(claim, desc, i)
            if expected is not None and found != expected:
                yield _out_of_range(label, found, Claim(path, EQUAL, expected), sum_text(claim, desc, expected, i))


def one_of(desc: OperatorDesc, claims: dict[str, list[Any]]) -> Iterator[Finding]:
    """A field, or each of its elements, is one of a list of numbers or enumeration values."""
    for field, allowed in claims.items():
        for label, path, found, _ in _values(desc, field):
            if found not in allowed:
                yield _out_of_range(label, found, Claim(path, ONE_OF, tuple(allowed)))


def not_zero(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """No element of a field is 0."""
    for field in fields:
        for label, path, found, _ in _values(desc, field):
            if found == 0:
                yield _out_of_range(label, found, Claim(path, NOT_EQUAL, 0))


def holds(desc: OperatorDesc, claims: dict[str, str]) -> Iterator[Finding]:
    """An expression of a field, or of a tensor's Sizes or DataType, is true: for claims that no other word makes.

    The finding gives the required numbers if the expression has them; otherwise the row's text.
    """
    for field, expression in claims.items():
        if evaluate(expression, desc) is not False:
            continue
        name, _, member = field.partition(".")
        value = desc.values.get(name)
        broken = list(broken_claims(expression, desc))
        expected = " and ".join(one.text for one in broken if one.text)
        asked = next((one for one in broken if one.relation), NOTHING_KNOWN)
        if isinstance(value, TensorDesc) and member == "DataType":
            if not any(place[-1] == "DataType" and str(place[0]) in expression for place in desc.refused):
                problem = f"it must be {expected}" if expected else ""
                yield _wrong_type(
                    name, (name, member), value.data_type, problem, (asked.limit,) if asked.relation else ()
                )
        elif isinstance(value, TensorDesc):
            number = claimed(expression, desc)
            own = Claim(number[2], asked.relation, asked.limit) if number and asked.relation else None
            label, found, place = number if number and expected else (f"{name}.Sizes", braces(value.sizes), ())
            path = (name, "Sizes", *(place[2:] if place[1:2] == ("Sizes",) else ()))
            yield Finding("size-mismatch", path, _number_params(label, found, expected), claim=own)
        else:
            own = Claim((name,), asked.relation, asked.limit) if asked.relation else None
            found = value.spec.operator if isinstance(value, OperatorDesc) else value
            yield _wrong_value(name, (name,), found, expected, own)


# ---- which fields are there


def required(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """Fields that are optional in themselves are there."""
    for field in fields:
        if field not in desc.values and field not in desc.broken:
            params = {"operator": desc.spec.operator, "field": field}
            yield Finding("missing-field", (field,), params, claim=Claim((field,), PRESENT))


def excluded(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """Fields are left out."""
    for field in fields:
        if field in desc.values:
            params, own = {"field": field, "why": "here"}, Claim((field,), ABSENT)
            yield Finding("excluded-field", (field,), params, help=f"leave {field} out", claim=own)


def some_of(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """One of some fields is there, or more."""
    if not any(field in desc.values or field in desc.broken for field in fields):
        params, own = {"operator": desc.spec.operator, "field": " or ".join(fields)}, Claim((fields[0],), PRESENT)
        yield Finding("missing-field", (fields[0],), params, claim=own)


def all_or_none(desc: OperatorDesc, fields: list[str]) -> Iterator[Finding]:
    """Either all of some fields are there or none."""
    given = [field for field in fields if field in desc.values or field in desc.broken]
    for field in fields if given else ():
        if field not in given:
            params = {"operator": desc.spec.operator, "field": field}
            help = f"{given[0]} is given; give both or neither"
            yield Finding("missing-field", (field,), params, help=help, claim=Claim((field,), PRESENT))


# ---- flags and operators


def not_owned_by_dml(desc: OperatorDesc, names: list[str]) -> Iterator[Finding]:
    """No tensor of some fields is owned by DirectML."""
    for name in names:
        for label, path, tensor in desc.parts[name]:
            if tensor.flags == "OWNED_BY_DML":
                problem = "this tensor must be bound by the caller"
                params = {"tensor": label, "found": "OWNED_BY_DML", "problem": problem}
                own = Claim((*path, "Flags"), ABSENT)
                yield Finding("invalid-flags", (*path, "Flags"), params, help="leave Flags out", claim=own)


def operators(desc: OperatorDesc, claims: dict[str, list[str]]) -> Iterator[Finding]:
    """The operator inside a field, or each of them, is one of a list."""
    for path, part in nested(desc):
        allowed = claims.get(str(path[0]))
        if allowed is not None and part.spec.short not in allowed:
            label = pointer(path)
            yield _out_of_range(label, part.spec.operator, Claim((*path, "Type"), ONE_OF, tuple(allowed)))


def unchecked(desc: OperatorDesc, why: str) -> Iterator[Finding]:  # noqa: ARG001 - nothing to check
    """A claim that a desc cannot break, or that nothing in it decides; the argument says why."""
    yield from ()


def of_values(desc: OperatorDesc, args: Any) -> Iterator[Finding]:  # noqa: ARG001 - value_words.py checks it
    """Claims about the values of tensors, which a desc does not have: `value_words.py` checks them in a run."""
    yield from ()


VALUE_WORDS = (
    "columns_in_order",
    "distinct_indices",
    "distinct_tuples",
    "elements_between",
    "elements_not_zero",
    "elements_one_of",
)
WORDS: dict[str, Word] = {
    **dict.fromkeys(VALUE_WORDS, of_values),
    **{word.__name__: word for word in (
        all_or_none, at_least, at_most, axes_within, between, broadcastable, data_type, data_type_of,
        dimension_count, distinct_axes, effective_dimension_count_at_most, element_count, excluded, holds,
        joined_along, not_owned_by_dml, not_zero, one_of, operators, required, right_aligned_sizes, same_data_type,
        same_dimension_count, same_sizes, sizes, sizes_are, some_of, unchecked, value,
    )},
}  # fmt: skip


# ---- what the words share


def _unlike(
    desc: OperatorDesc, names: list[str], of: Callable[[TensorDesc], Any]
) -> Iterator[tuple[TensorPart, TensorPart]]:
    """Yield each tensor whose data type, rank or sizes differ from most, with the first tensor of the majority.

    A tensor of a data type that the level refuses does not count: another finding is about it.
    """
    parts = [part for name in names for part in tensors_of(desc, name)]
    if len({of(part.tensor) for part in parts}) < 2:
        return
    sound = [part for part in parts if (*part.path, "DataType") not in desc.refused] or parts
    times = Counter(of(part.tensor) for part in sound)
    model = max(sound, key=lambda part: times[of(part.tensor)])
    for part in parts:
        if of(part.tensor) != of(model.tensor):
            yield part, model


def _compare_sizes(label: str, path: Path, tensor: TensorDesc, expected: Sequence[Any]) -> Iterator[Finding]:
    """Yield a finding for each size that is not the expected one; None stands for any."""
    # A wrong number of dimensions is the business of same_dimension_count.
    if len(tensor.sizes) == len(expected):
        for axis, (found, wanted) in enumerate(zip(tensor.sizes, expected, strict=True)):
            if wanted is not None and found != wanted:
                yield _wrong_size(label, path, axis, found, wanted)


def _wrong_size(label: str, path: Path, axis: int, found: int, wanted: int) -> Finding:
    path = (*path, "Sizes", axis)
    return Finding("size-mismatch", path, _size_params(label, axis, found, wanted), claim=Claim(path, EQUAL, wanted))


def _wrong_rank(label: str, path: Path, found: int, wanted: int, problem: str) -> Finding:
    params = {"tensor": label, "found": dimensions_text(found), "problem": problem}
    return Finding("rank-mismatch", (*path, "Sizes"), params, claim=Claim((*path, RANK), EQUAL, wanted))


def _wrong_type(label: str, path: Path, found: str, problem: str, wanted: Sequence[str] = ()) -> Finding:
    """Return the finding about a data type; `wanted` are the right ones at any level."""
    params = {"tensor": label, "found": found, "problem": problem}
    return Finding("data-type-mismatch", path, params, claim=Claim(path, ONE_OF, tuple(wanted)) if wanted else None)


_MOST_ADDED = 10  # sizes that a message adds up


def _size_params(label: str, axis: int, found: int, expected: int) -> dict[str, Any]:
    return _number_params(f"{label}.Sizes[{axis}]", found, expected)


def _number_params(name: str, found: Any, expected: Any) -> dict[str, Any]:
    return {"size": name, "found": found, "limit": "", "expected": expected, "worked": ""}


def _with_sum(
    finding: Finding, claim: Any, desc: OperatorDesc, *, i: int | None = None, at: int | None = None, own: str = ""
) -> Finding:
    """Return the finding about a size, with the sum that a row's expression gives for it.

    `i` is the dimension of the expression, or `at` the place of the size in the list that it gives; `own` is the
    expression's name for the size itself, where it limits the size.
    """
    found, expected = finding.params["found"], finding.params["expected"]
    relation = limit_relation(claim, desc, own, found, expected, i) if own and i is not None else EQUAL
    worked = sum_text(claim, desc, expected, i, at)
    limit = "" if relation == EQUAL else Claim((), relation, "").text
    asked = None if finding.claim is None else finding.claim._replace(relation=relation)
    return finding._replace(params={**finding.params, "limit": limit, "worked": worked}, claim=asked)


def _axes(desc: OperatorDesc, field: str) -> Iterator[tuple[str, Path, int]]:
    value = desc.values.get(field)
    if isinstance(value, tuple):
        for index, axis in enumerate(value):
            yield f"{field}[{index}]", (field, index), axis
    elif value is not None:
        yield field, (field,), value


def _values(desc: OperatorDesc, field: str) -> Iterator[tuple[str, Path, Any, int | None]]:
    """Yield the value of a field, of each of its elements, or of a member, with its number.

    A member is one of a struct (`ScaleSize.Height`), or a field of the operator inside (`FusedActivation.Axes`).
    """
    name, *members = field.split(".")
    found: Any = desc.values.get(name)
    path: Path = (name,)
    for member in members:
        if isinstance(found, OperatorDesc):
            path, found = (*path, *found.steps, member), found.values.get(member)
        elif found is not None:
            path, found = (*path, member), getattr(found, member)
    if found is None:
        return
    if isinstance(found, tuple) and not hasattr(found, "_fields"):
        for index, element in enumerate(found):
            yield f"{field}[{index}]", (*path, index), element, index
    elif counted := _counted(desc, field):
        # A count that was left out is a matter of the array that it follows from.
        yield f"the number of elements of {counted}", (counted, LENGTH), found, None
    else:
        yield field, path, found, None


def _counted(desc: OperatorDesc, field: str) -> str | None:
    """Return the array that a count which was left out follows from, None for other fields."""
    if field not in desc.derived:
        return None
    return next((array for array in desc.spec.fields[field].counts if array in desc.values), None)


def _out_of_range(label: str, found: Any, claim: Claim, worked: str = "") -> Finding:
    path = claim.field[:-1] if claim.field[-1] == LENGTH else claim.field
    return _wrong_value(label, path, found, claim.text, claim, worked)


def _wrong_value(
    label: str, path: Path, found: Any, expected: str, claim: Claim | None = None, worked: str = ""
) -> Finding:
    found = found if isinstance(found, str) else describe(found)
    params = {"field": label, "found": found, "expected": expected, "worked": worked}
    return Finding("value-out-of-range", path, params, claim=claim)
