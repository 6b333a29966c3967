"""What would make a desc right: the sizes of a tensor of too few dimensions that no constraint refuses."""

from __future__ import annotations

from collections.abc import Iterator

from dmlcheck.descs.records import OperatorDesc, Part
from dmlcheck.diagnostics.record import Finding
from dmlcheck.validation import constraint_rows
from dmlcheck.validation.support_tables import NEVER, rank_remedy, support_at

_MOST = 8  # dimensions of a tensor, and of what is tried for it


def with_sizes(finding: Finding, desc: OperatorDesc, level: str) -> Finding:
    """Return a finding about too few dimensions for any level; its help has the sizes that fit, if any do."""
    if not str(finding.help).startswith(NEVER):
        return finding
    part = next((part for part in desc.tensors() if ("desc", *part.path, "Sizes") == finding.path), None)
    support = None if part is None else support_at(desc, str(part.path[0]), level)
    if part is None or support is None or finding.help is None:
        return finding
    remedy, sizes = rank_remedy(part.tensor.sizes, support.dims), _fitting(desc, part, support.dims, level)
    if remedy is None or sizes is None:
        return finding
    return finding._replace(help=finding.help.replace(remedy, f"write {list(sizes)}"))


def _fitting(desc: OperatorDesc, part: Part, dims: tuple[int, ...], level: str) -> tuple[int, ...] | None:
    """Return the first sizes with 1 before and after those that are given that break no constraint, None if all do."""
    for sizes in _candidates(part.tensor.sizes, dims):
        if next(constraint_rows.findings(_resized(desc, part, sizes), level), None) is None:
            return sizes
    return None


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
