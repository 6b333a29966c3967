"""One desc at one feature level: the findings about it, and the lowest level that accepts it.

A desc is read once (`read_desc`), and then checked at any number of levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from math import prod
from typing import Any

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.diagnostics.record import MAX_PROBLEMS, Finding
from dmlcheck.diagnostics.wording import counted
from dmlcheck.files.document import Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import LEVEL_ORDER, LEVELS, level_and_version, level_name
from dmlcheck.specs.records import OUTPUT, OperatorSpec
from dmlcheck.validation import constraint_rows, support_tables
from dmlcheck.validation.conditions import nested
from dmlcheck.validation.support_tables import support_at


def validate(operator: str, raw: Any, level: str) -> tuple[OperatorDesc | None, list[Finding]]:
    """Read a desc and check it at one level: return its fields and everything that is wrong with it."""
    reading = read_desc(operator, raw)
    return reading.desc, check(reading, level)


def check(reading: Reading, level: str) -> list[Finding]:
    """Return the findings about a desc at a feature level: all, or more than are reported.

    Those for which no release of DirectML refuses the desc come last.
    """
    desc = reading.desc
    if desc is None:
        return list(reading.findings)
    found = (with_count(finding, desc, level) for finding in reading.findings)
    read = (finding._replace(help=finding.help or axis_help(desc, finding)) for finding in found)
    all_found = [*read, *islice(_at_level(desc, level, is_told=True), MAX_PROBLEMS + 1)]
    return sorted(all_found, key=lambda finding: bool(finding.taken_by))


def untold(reading: Reading, level: str) -> Iterator[Finding]:
    """Yield all findings about a desc at a feature level without what helps, which takes longer than to find them."""
    yield from reading.findings
    if reading.desc is not None:
        yield from _at_level(reading.desc, level)


def minimum_level(reading: Reading) -> str | None:
    """Return the lowest feature level at which a desc is valid, or None when there is none."""
    if reading.desc is None or reading.findings:
        return None
    for level in LEVELS:
        if next(_at_level(reading.desc, level), None) is None:
            return level
    return None


def _at_level(desc: OperatorDesc, level: str, *, is_told: bool = False) -> Iterator[Finding]:
    """Yield the findings about a desc that depend on the level; reported ones advise right sizes."""
    if LEVEL_ORDER[level] < LEVEL_ORDER[desc.spec.introduced]:
        yield _unavailable(desc.spec, level, ("operator",))
    else:
        refused = set()
        for finding in support_tables.findings(desc, level, rank_remedy if is_told else None):
            refused.add(finding.path[1:])
            yield finding
        if refused:
            desc = desc._replace(refused=frozenset(refused))
    for path, inner in nested(desc):
        if LEVEL_ORDER[level] < LEVEL_ORDER[inner.spec.introduced]:
            yield _unavailable(inner.spec, level, ("desc", *path, "Type"))
    for finding in constraint_rows.findings(desc, level):
        yield with_remedy(finding, desc, level) if is_told else finding


def _unavailable(spec: OperatorSpec, level: str, path: Path) -> Finding:
    params = {"operator": spec.operator, "level": level_name(level)}
    help = f"it came with {level_and_version(spec.introduced)}"
    for older in spec.supersedes:
        if full_name(older) and LEVEL_ORDER[load_spec(older).introduced] <= LEVEL_ORDER[level]:
            help += f"; {older}, which it supersedes, exists from {level_name(load_spec(older).introduced)}"
    return Finding("operator-unavailable", path, params, help=help)


# ---- remedies of a desc


Tensors = Mapping[tuple[str | int, ...], TensorDesc]
_MOST = 8  # dimensions of a tensor, and of remedies tried for it
_MOST_TENSORS = 64  # of a desc for which sizes are tried


def rank_remedy(desc: OperatorDesc, part: TensorPart, dims: tuple[int, ...], level: str) -> str | None:
    """Return the help for a tensor whose number of dimensions is none of `dims`, or None if no remedy is known.

    The remedy adds dimensions of 1 to its sizes if no constraint is broken; otherwise to all tensors of the same rank,
    in front, with the axes renumbered. A remedy that is returned leads to no new mistake.
    """
    if len(desc.tensors()) > _MOST_TENSORS:
        return None
    return _sized(desc, part, dims, level) or _led(desc, part, dims, level)


def with_remedy(finding: Finding, desc: OperatorDesc, level: str) -> Finding:
    """Return the finding about a tensor's number of dimensions, with the right sizes in its help."""
    if finding.rule != "rank-mismatch" or len(desc.tensors()) > _MOST_TENSORS:
        return finding
    for part in desc.parts.get(str(finding.path[1]), ()):
        support = support_at(desc, str(part.path[0]), level)
        if part.path == finding.path[1:-1] and support is not None:
            remedy = _sized(desc, part, support.dims, level)
            if remedy is not None:
                return finding._replace(help=f"{finding.help}: {remedy}" if finding.help else remedy)
    return finding


def with_count(finding: Finding, desc: OperatorDesc, level: str) -> Finding:
    """Return the finding about a count; if only its array can be wrong, the help says so."""
    name, array = str(finding.path[-1]), str(finding.params.get("array"))
    if finding.rule != "count-mismatch" or finding.path != ("desc", name) or name == array:
        return finding
    given, length = finding.params["found"], len(desc.values[array])

    def is_wrong(count: int) -> bool:
        changed = OperatorDesc.of(desc.spec, {**desc.values, name: count})
        return (name,) in constraint_rows.broken_places(changed, level)

    if is_wrong(length) and not is_wrong(given):
        return finding._replace(help=f"give {array} {counted(given, 'element')}")
    return finding


# ---- one tensor


def _sized(desc: OperatorDesc, part: TensorPart, dims: tuple[int, ...], level: str) -> str | None:
    """Return the sizes to write for a tensor of too few dimensions, and the strides if it has to be repeated."""
    others = set(constraint_rows.broken_places(desc.without([str(part.path[0])]), level))  # regardless of its sizes

    def fits(tensor: TensorDesc) -> bool:
        return others.issuperset(constraint_rows.broken_places(_with_tensors(desc, {part.path: tensor}), level))

    for tensor in filter(fits, _lengthened_by_ones(part, dims)):
        return f"write {list(tensor.sizes)}"
    for tensor in filter(fits, _repeated(desc, part, dims)):
        return f"to repeat it, write Sizes: {list(tensor.sizes)}, Strides: {list(tensor.strides or ())}"
    return None


def _higher(part: TensorPart, dims: tuple[int, ...]) -> list[int]:
    return sorted(count for count in dims if len(part.tensor.sizes) < count <= _MOST)


def axis_help(desc: OperatorDesc, finding: Finding) -> str | None:
    """Return the value to write for an axis below 0, or None for any other value."""
    names = [row.args for row in desc.spec.constraints if row.word == "axes_within"]
    tensor = next(
        (desc.tensor(args[finding.path[1]]) for args in names if finding.path[1:2] and finding.path[1] in args), None
    )
    if tensor is None or finding.rule != "field-type":
        return None
    try:
        axis = int(str(finding.params["found"]))
    except ValueError:
        return None
    rank = len(tensor.sizes)
    if axis >= 0 or not rank:
        return None
    return f"axes count from 0 to {rank - 1}" + (f": write {axis + rank}" if axis >= -rank else "")


def _lengthened_by_ones(part: TensorPart, dims: tuple[int, ...]) -> Iterator[TensorDesc]:
    """Yield a tensor with dimensions of 1 added in every way: the fewest first, and those in front before others."""
    for rank in _higher(part, dims):
        for added in combinations(range(rank), rank - len(part.tensor.sizes)):
            own = iter(part.tensor.sizes)
            sizes = tuple(1 if axis in added else next(own) for axis in range(rank))
            yield part.tensor._replace(sizes=sizes, strides=None)


def _repeated(desc: OperatorDesc, part: TensorPart, dims: tuple[int, ...]) -> Iterator[TensorDesc]:
    """Yield an input of the sizes of another tensor, repeated along the dimensions that it lacks."""
    own = part.tensor.sizes
    if desc.spec.fields[str(part.path[0])].kind == OUTPUT:
        return
    for sizes in dict.fromkeys(other.tensor.sizes for other in desc.tensors()):
        if len(sizes) in _higher(part, dims):
            for added in combinations(range(len(sizes)), len(sizes) - len(own)):
                if own == tuple(size for axis, size in enumerate(sizes) if axis not in added):
                    packed = (prod(own[index + 1 :]) for index in range(len(own)))
                    strides = tuple(0 if axis in added else next(packed) for axis in range(len(sizes)))
                    yield part.tensor._replace(sizes=sizes, strides=strides)


# ---- all tensors at once


def _led(desc: OperatorDesc, part: TensorPart, dims: tuple[int, ...], level: str) -> str | None:
    """Return which leading dimensions to add or to drop of every tensor that has as many as one, if that is right."""
    own = len(part.tensor.sizes)
    ranks = [rank for rank in dims if own < rank <= _MOST] or ([max(dims)] if own > max(dims) else [])
    alike = [other for other in desc.tensors() if len(other.tensor.sizes) == own]
    for rank in ranks[:1]:
        surplus = own - rank
        if any(size != 1 for other in alike for size in other.tensor.sizes[: max(0, surplus)]):
            return None
        led = {other.path: _lengthened(other.tensor, -surplus) for other in alike}
        axes = _axes_renumbered(desc, {str(path[0]) for path in led}, -surplus)
        changed = OperatorDesc.of(desc.spec, {**_with_tensors(desc, led).values, **axes})
        before = set(constraint_rows.broken_places(desc, level))
        if before.issuperset(constraint_rows.broken_places(changed, level)):
            what = "add" if surplus < 0 else "drop"
            counted = "".join(f", and write {name}: {_text(value)}" for name, value in axes.items())
            return f"{what} leading dimensions of size 1 to rank {rank}{counted}"
    return None


def _axes_renumbered(desc: OperatorDesc, tensors: set[str], more: int) -> dict[str, Any]:
    """Return the axes of a desc as they are when some tensors have more leading dimensions."""
    axes: dict[str, Any] = {}
    for row in desc.spec.constraints:
        if row.word == "axes_within":
            for field, tensor in row.args.items():
                value = desc.values.get(field)
                if tensor in tensors and value not in (None, ()):
                    axes[field] = tuple(axis + more for axis in value) if isinstance(value, tuple) else value + more
    return axes


def _text(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _lengthened(tensor: TensorDesc, more: int) -> TensorDesc:
    """Return a packed tensor with more leading dimensions of 1, or fewer."""
    return tensor._replace(sizes=(1,) * more + tensor.sizes[max(0, -more) :], strides=None)


def _with_tensors(desc: OperatorDesc, tensors: Tensors) -> OperatorDesc:
    """Return a desc with other tensors, which are by their paths."""
    values = dict(desc.values)
    for path, tensor in tensors.items():
        name, value = str(path[0]), values[str(path[0])]
        if len(path) > 1:
            values[name] = tuple(tensor if index == path[1] else other for index, other in enumerate(value))
        else:
            values[name] = tensor
    return OperatorDesc.of(desc.spec, values)
