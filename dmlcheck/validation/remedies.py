"""What would make a desc right: the sizes of a tensor of too few dimensions that no constraint refuses."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.descs.records import OperatorDesc, Part
from dmlcheck.diagnostics.record import Finding
from dmlcheck.validation import constraint_rows

_MOST = 8  # dimensions of a tensor, and of what is tried for it


def fitting_sizes(desc: OperatorDesc, part: Part, dims: tuple[int, ...], level: str) -> tuple[int, ...] | None:
    """Return the first sizes with 1 before and after those that a tensor has that break no constraint at a level.

    `dims` are the dimension counts to choose from. None where all break one, or the tensor has too many dimensions.
    What is wrong without the tensor too is no reason against sizes.
    """
    others = set(constraint_rows.broken_places(desc.without([str(part.path[0])]), level))
    for sizes in _candidates(part.tensor.sizes, dims):
        if others.issuperset(constraint_rows.broken_places(_resized(desc, part, sizes), level)):
            return sizes
    return None


def axis_help(desc: OperatorDesc, finding: Finding) -> str | None:
    """Return what to write for an axis below 0, None for what is no such axis."""
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


def _candidates(sizes: tuple[int, ...], dims: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for rank in sorted(count for count in dims if len(sizes) < count <= _MOST):
        for after in range(rank - len(sizes) + 1):
            yield (1,) * (rank - len(sizes) - after) + sizes + (1,) * after


def _resized(desc: OperatorDesc, part: Part, sizes: tuple[int, ...]) -> OperatorDesc:
    """Return a desc with a packed tensor of other sizes."""
    name = str(part.path[0])
    tensor = part.tensor._replace(sizes=sizes, strides=None)
    value = desc.values[name]
    if len(part.path) > 1:
        index = part.path[1]
        value = tuple(tensor if number == index else other for number, other in enumerate(value))
    else:
        value = tensor
    return OperatorDesc.of(desc.spec, {**desc.values, name: value})
