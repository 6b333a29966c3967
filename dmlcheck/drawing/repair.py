"""Repairs a desc by the claims of findings: a claim says which values its field may have."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from dmlcheck.diagnostics.record import (
    ABSENT,
    AT_MOST,
    BETWEEN,
    DISTINCT,
    DIVIDES,
    ELEMENTS,
    LENGTH,
    NOT_EQUAL,
    ONE_OF,
    PRESENT,
    RANK,
    TYPE,
    Claim,
    Finding,
)
from dmlcheck.drawing.chance import Chance
from dmlcheck.drawing.draft import FUSED, SMALL, Raw, attribute
from dmlcheck.files.document import Path
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.records import Field, OperatorSpec


def repaired(spec: OperatorSpec, fields: Raw, findings: Iterable[Finding], chance: Chance) -> Raw:
    """Return the fields of a desc with values that satisfy the claims of findings, one after the other.

    A repair may break another claim, and findings without claims are ignored: check the desc again.
    """
    found = deepcopy(fields)
    for finding in findings:
        if finding.claim is not None:
            _fulfil(spec, found, finding.claim._replace(field=_in_desc(finding.claim.field)), chance)
        elif finding.rule == "operator-unavailable" and len(finding.path) > 1:
            _remove(found, _in_desc(finding.path)[:1])
        elif finding.rule == "size-mismatch":
            _change_size(found, _in_desc(finding.path), chance)
        elif finding.rule == "value-out-of-range":
            give(spec, found, _in_desc(finding.path)[:1], chance)
    return found


def _in_desc(path: Path) -> Path:
    return path[1:] if path[:1] == ("desc",) else path


def _fulfil(spec: OperatorSpec, raw: Raw, claim: Claim, chance: Chance) -> None:
    *holder, last = claim.field
    at = tuple(holder)
    if claim.relation == ABSENT:
        _remove(raw, claim.field)
    elif claim.relation in (PRESENT, TYPE):
        give(spec, raw, claim.field, chance)
    elif claim.relation == DISTINCT:
        _remove(raw, claim.field)
    elif last == RANK:
        _set_rank(_at(raw, at), _value(claim, chance))
    elif last == ELEMENTS:
        _set_elements(_at(raw, at), claim)
    elif last == LENGTH and not _at(raw, at):
        give(spec, raw, at, chance)
    elif last == LENGTH:
        _resize(_at(raw, at[:-1]), at[-1], _value(claim, chance))
    else:
        _set(raw, claim.field, _value(claim, chance))


# ---- values


def _value(claim: Claim, chance: Chance) -> Any:
    limit = claim.limit
    if claim.relation == BETWEEN:
        return _between(limit[0], limit[1], chance)
    if claim.relation == AT_MOST:
        least = 1 if "Sizes" in claim.field else 0
        return _between(least, limit, chance) if limit >= least else limit
    if claim.relation == ONE_OF:
        known = [value for value in claim.limit if value in FUSED and claim.field[-1] == "Type"]
        return chance.of(known or list(claim.limit))
    if claim.relation == DIVIDES:
        return chance.of([number for number in range(1, limit + 1) if limit % number == 0])
    if claim.relation == NOT_EQUAL:
        return limit + 1
    return list(limit) if isinstance(limit, tuple) else limit  # AT_LEAST: the least


def _between(low: Any, high: Any, chance: Chance) -> Any:
    is_whole = isinstance(low, int) and isinstance(high, int)
    return chance.integer(low, max(low, min(high, low + _WIDEST))) if is_whole else chance.of([low, high])


_WIDEST = 64  # numbers of a range that are drawn from


# ---- places


def _at(raw: Any, path: Path) -> Any:
    for step in path:
        if isinstance(raw, dict):
            raw = raw.get(step)
        elif isinstance(raw, list) and isinstance(step, int) and step < len(raw):
            raw = raw[step]
        else:
            return None
    return raw


def _set(raw: Raw, path: Path, value: Any) -> None:
    """Put a value at a path; a nested operator gets the fields of its type."""
    holder, last = _at(raw, path[:-1]), path[-1]
    if isinstance(holder, dict) and last == "Type" and str(value).removeprefix("DML_OPERATOR_") in FUSED:
        holder.clear()
        holder.update({"Type": value, **FUSED[str(value).removeprefix("DML_OPERATOR_")]})
    elif isinstance(holder, dict):
        holder[last] = value
    elif isinstance(last, int) and last < len(holder or ()):
        holder[last : last + 1] = [value]


def _remove(raw: Raw, path: Path) -> None:
    holder, last = _at(raw, path[:-1]), path[-1]
    if isinstance(holder, dict):
        holder.pop(last, None)
    elif isinstance(holder, list) and isinstance(last, int) and last < len(holder):
        del holder[last]


def _resize(holder: Any, key: Any, length: int) -> None:
    """Set the length of a list: drop its first elements, or repeat its elements."""
    given = holder.get(key) if isinstance(holder, dict) else None
    if isinstance(given, list) and len(given) > length:
        holder[key] = given[len(given) - length :]
    elif isinstance(given, list):
        holder[key] = [deepcopy(given[place % len(given)]) for place in range(length)]


def _set_rank(tensor: Any, rank: int) -> None:
    """Set the number of dimensions of a tensor: drop the first ones, or add dimensions of size 1 before them."""
    sizes = tensor.get("Sizes") if isinstance(tensor, dict) else None
    if isinstance(sizes, list):
        tensor["Sizes"] = [1] * (rank - len(sizes)) + sizes[max(0, len(sizes) - rank) :]
        tensor.pop("Strides", None)
        if RANK in tensor:
            tensor[RANK] = rank


def _set_elements(tensor: Any, claim: Claim) -> None:
    sizes = tensor.get("Sizes") if isinstance(tensor, dict) else None
    if isinstance(sizes, list) and sizes and isinstance(claim.limit, int):
        last = max(1, claim.limit) if claim.relation != AT_MOST else min(sizes[-1], claim.limit)
        sizes[:] = [1] * (len(sizes) - 1) + [last]


def _change_size(raw: Raw, path: Path, chance: Chance) -> None:
    """Draw a new value for a wrong size that has no claim; if it has no place, its tensor is packed too."""
    axis = path[-1] if isinstance(path[-1], int) else None
    sizes = _at(raw, path if axis is None else path[:-1])
    if axis is None:
        _remove(raw, (*path[:-1], "Strides"))
    if isinstance(sizes, list) and sizes:
        sizes[chance.integer(0, len(sizes) - 1) if axis is None else axis] = chance.integer(1, 5)


# ---- missing fields


def give(spec: OperatorSpec, raw: Raw, path: Path, chance: Chance) -> None:
    """Draw a value for a missing field of the desc, or of an operator inside it."""
    holder, name = _at(raw, path[:-1]), path[-1]
    if not isinstance(holder, dict) or not isinstance(name, str):
        return
    inner = full_name(holder["Type"]) if isinstance(holder.get("Type"), str) else None
    own = spec if holder is raw else load_spec(inner) if inner else None
    field = None if own is None else own.fields.get(name)
    if own is None or field is None:
        holder.pop(name, None)
    elif field.kind == "attribute":
        holder[name] = attribute(field, chance, _rank_of(raw), SMALL)
    else:
        holder[name] = _like_another(own, field, raw)


def _rank_of(raw: Raw) -> int:
    return next((len(value["Sizes"]) for value in raw.values() if isinstance(value, dict) and "Sizes" in value), 2)


def _like_another(spec: OperatorSpec, field: Field, raw: Raw) -> Any:
    """Return a tensor with the sizes and type of another, where the support table allows them."""
    others = (part for value in raw.values() for part in (value if isinstance(value, list) else [value]))
    like = next((one for one in others if isinstance(one, dict) and "Sizes" in one), {"DataType": "", "Sizes": [1]})
    rows = [row[field.name] for table in spec.support for row in table.rows.values() if field.name in row]
    support = next((row for row in rows if like["DataType"] in row.types), rows[0] if rows else None)
    sizes, types = list(like["Sizes"]), support.types if support is not None else ()
    rank = len(sizes) if support is None or len(sizes) in support.dims else support.dims[0]
    data_type = like["DataType"] if not types or like["DataType"] in types else types[0]
    tensor = {"DataType": data_type, "Sizes": [1] * (rank - len(sizes)) + sizes[max(0, len(sizes) - rank) :]}
    return [tensor] if field.type == "TENSOR_DESC_ARRAY" else tensor
