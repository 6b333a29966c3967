"""The specs of the operators: `specs/*.yaml` to OperatorSpec, one file at a time and only when asked for."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from dmlcheck.files import yaml
from dmlcheck.specs.names import LEVELS, OPERATOR_PREFIX, releases_with, short_operator
from dmlcheck.specs.records import (
    ALTERNATIVES,
    ATTRIBUTE,
    BASES,
    DOCUMENTATION,
    ERRATUM_KINDS,
    INPUT,
    OUTPUT,
    UNDEFINED,
    Constraint,
    Deviation,
    Difference,
    Erratum,
    Field,
    Half,
    Measured,
    MeasuredOn,
    OperatorSpec,
    Releases,
    SupportTable,
    TakenValues,
    TensorSupport,
    Tolerance,
    Undefined,
)

_PAGE_ROOT = "https://learn.microsoft.com/windows/"
_CONDITIONS = frozenset(("when", "unless", "present", "absent", "since", "until"))
_CONSTRAINT_KEYS = (
    "id",
    "text",
    "when",
    "unless",
    "present",
    "absent",
    "since",
    "until",
    "given",
    "help",
    "basis",
    "taken",
    "unasked",
    "taken_inside",
)


def data_folder(name: str) -> str:
    """Return the folder `specs` or `cases`: inside the installed package, or next to it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "data", name)
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), name)


@cache
def operator_names() -> tuple[str, ...]:
    """Return the full names of all operators that have a spec, sorted."""
    files = os.listdir(data_folder("specs"))
    return tuple(sorted(OPERATOR_PREFIX + file[:-5].upper() for file in files if file.endswith(".yaml")))


@lru_cache(maxsize=1024)  # a file may spell a name wrong in any number of ways
def full_name(name: str) -> str | None:
    """Return the full name of an operator given in full or without its prefix, or None if there is no spec."""
    full = OPERATOR_PREFIX + short_operator(name)
    return full if full in operator_names() else None


@cache
def load_spec(operator: str) -> OperatorSpec:
    """Return the spec of an operator by its full name; KeyError for an unknown name."""
    path = os.path.join(data_folder("specs"), short_operator(operator).lower() + ".yaml")
    if not os.path.isfile(path):
        raise KeyError(operator)
    document = yaml.read(path)
    if document.problems:
        raise ValueError(f"{path}: {document.problems[0].message}")
    return _spec(document.value)


def _spec(raw: dict[str, Any]) -> OperatorSpec:
    page = raw["page"]
    fields = {name: _field(name, value) for name, value in raw["fields"].items()}
    return OperatorSpec(
        operator=raw["operator"],
        short=short_operator(raw["operator"]),
        number=raw["number"],
        introduced=raw["introduced"],
        in_place=raw["in_place"],
        supersedes=tuple(raw.get("supersedes", ())),
        names={library: tuple(names) for library, names in raw.get("names", {}).items()},
        page={**page, "url": _PAGE_ROOT + page["folder"] + "/" + page["file"].removesuffix(".md")},
        kernel=raw["kernel"],
        functions=tuple(raw.get("functions", ())),
        range=_interval(raw.get("range", (-math.inf, math.inf))),
        domain=_interval(raw["domain"]) if "domain" in raw else None,
        fields=fields,
        support=tuple(_table(table) for table in raw["support"]),
        taken=tuple(_taken(row, raw["introduced"]) for row in raw.get("taken", ())),
        let=raw.get("let", {}),
        constraints=tuple(_constraint(row, raw["introduced"]) for row in raw["constraints"] or ()),
        tolerance=tuple(_tolerance(row) for row in raw.get("tolerance", ())),
        half=_half(raw["half"]) if "half" in raw else None,
        undefined=tuple(_undefined(row, raw["operator"]) for row in raw.get("undefined", ())),
        errata=tuple(_erratum(row, raw["operator"]) for row in raw.get("errata", ())),
        known_deviations=tuple(_deviation(_shared(row)) for row in raw.get("known_deviations", ())),
        deviations_of={
            name: tuple(_deviation(row, name) for row in rows) for name, rows in raw.get("deviations_of", {}).items()
        },
        differences=tuple(Difference(**row) for row in raw.get("differences", ())),
        examples=tuple(raw.get("examples", ())),
        inputs=tuple(field for field in fields.values() if field.kind == INPUT),
        outputs=tuple(field for field in fields.values() if field.kind == OUTPUT),
        operators=tuple(field for field in fields.values() if field.type.startswith("OPERATOR_DESC")),
    )


def _interval(raw: Sequence[float]) -> tuple[float, float]:
    least, most = raw
    return least, most


def _field(name: str, raw: dict[str, Any]) -> Field:
    kind = raw.get("kind", ATTRIBUTE)
    return Field(
        name=name,
        kind=kind,
        type=raw.get("type", "TENSOR_DESC"),
        optional=raw.get("optional", False),
        enum=raw.get("enum"),
        counts=tuple(raw.get("counts", ())),
        boolean=raw.get("boolean", False),
        data_type=raw.get("data_type"),
        about=raw.get("about", ""),
    )


def _table(raw: dict[str, Any]) -> SupportTable:
    rows = {
        level: {name: TensorSupport(_dims(row["dims"]), tuple(row["types"])) for name, row in tensors.items()}
        for level, tensors in raw["levels"].items()
    }
    return SupportTable(_condition(raw.get("when")), rows)


def _dims(text: str | int) -> tuple[int, ...]:
    """Read dimension counts: `4`, `1..8`, `3, 5`."""
    dims: list[int] = []
    for part in str(text).split(","):
        first, _, last = part.partition("..")
        dims.extend(range(int(first), int(last or first) + 1))
    return tuple(dims)


def _condition(raw: dict[str, Any] | None) -> dict[str, tuple[str, ...]] | None:
    if raw is None:
        return None
    return {field: tuple(values) if isinstance(values, list) else (values,) for field, values in raw.items()}


def _constraint(raw: dict[str, Any], introduced: str = LEVELS[0]) -> Constraint:
    (word,) = (key for key in raw if key not in _CONSTRAINT_KEYS)
    return Constraint(
        id=raw["id"],
        text=raw["text"],
        word=word,
        args=raw[word],
        when=_condition(raw.get("when")),
        unless=_condition(raw.get("unless")),
        since=raw.get("since"),
        until=raw.get("until"),
        given=tuple(raw.get("given", ())),
        present=tuple(raw.get("present", ())),
        absent=tuple(raw.get("absent", ())),
        help=raw.get("help"),
        basis=raw.get("basis", DOCUMENTATION),
        taken=_releases(raw["taken"], introduced) if "taken" in raw else None,
        taken_inside=_releases(raw["taken_inside"], introduced) if "taken_inside" in raw else None,
        is_unasked=raw.get("unasked", False),
        is_unconditional=_CONDITIONS.isdisjoint(raw),
    )


def _releases(raw: str | dict[str, str], introduced: str) -> Releases:
    """Read the releases of a row: `all`, or {since: "1.7.0", until: "1.9.1"}, each without the other if need be.

    Those without the operator are none of them.
    """
    row = Releases() if raw == "all" else Releases(**raw)  # type: ignore[arg-type]
    return row if row.since else row._replace(since=releases_with(introduced)[0])


def _taken(raw: dict[str, Any], introduced: str) -> TakenValues:
    return TakenValues(
        tensors=tuple(raw.get("tensors", ())),
        types=tuple(raw.get("types", ())),
        dims=_dims(raw["dims"]) if "dims" in raw else (),
        operators={field: tuple(names) for field, names in raw.get("operators", {}).items()},
        releases=_releases(raw["releases"], introduced),
    )


_ERRATUM_VALUES = {"kind": ERRATUM_KINDS, "basis": BASES, "measured": (False, True)}


def _erratum(raw: dict[str, Any], operator: str) -> Erratum:
    """Read an erratum; ValueError if a key is missing or unknown, or has another value than it may."""
    where = f"{operator}, erratum {raw.get('id')}"
    for key, values in _ERRATUM_VALUES.items():
        if raw.get(key) not in values:
            raise ValueError(f"{where}: {key} is {raw.get(key)}; write one of {', '.join(map(str, values))}")
    try:
        return Erratum(**{**raw, "run": MeasuredOn(**raw["run"]) if "run" in raw else None})
    except TypeError as wrong:
        raise ValueError(f"{where}: {wrong}") from wrong


_SENTENCES = r"(?s)[A-Z0-9].*\."


def _undefined(raw: dict[str, Any], operator: str) -> Undefined:
    """Read an undefined result; ValueError if a key is missing or unknown, or alternatives are not told apart."""
    where = f"{operator}, undefined result: {raw.get('condition')}"
    try:
        measured = _measured(raw["measured"]) if "measured" in raw else None
        row = Undefined(**{**raw, "outcomes": tuple(raw.get("outcomes", ())), "measured": measured})
    except TypeError as wrong:
        raise ValueError(f"{where}: {wrong}") from wrong
    if row.kind not in (UNDEFINED, ALTERNATIVES):
        raise ValueError(f"{where}: kind is {row.kind}; write {UNDEFINED} or {ALTERNATIVES}")
    if row.kind == ALTERNATIVES and not (len(row.outcomes) > 1 and row.reference):
        raise ValueError(f"{where}: alternatives have two outcomes or more, and a reference")
    texts = (row.condition, row.reason, *row.outcomes, row.reference, row.told)
    if wrong_text := next((text for text in texts if text and not re.fullmatch(_SENTENCES, text)), None):
        raise ValueError(f"{where}: not in sentences: {wrong_text}")
    return row


def _half(raw: dict[str, Any]) -> Half:
    given, stored = tuple(raw.get("given", ())), raw.get("stored", "")
    are = {name: bool(raw.get(name, False)) for name in ("has_narrow_functions", "has_one_cause")}
    return Half(tuple(raw["values"]), raw["source"], given, stored, raw.get("parts_beyond"), **are)


def _measured(raw: dict[str, str]) -> Measured:
    return Measured(raw["text"], MeasuredOn(**{key: value for key, value in raw.items() if key != "text"}))


def _shared(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a deviation: of one that operators share by its name, with what an operator says itself."""
    own = dict(raw)
    name = own.pop("shared", None)
    return own if name is None else {**_shared_rows(data_folder("specs"))[name], **own}


@cache
def _shared_rows(folder: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = yaml.read(os.path.join(folder, "shared", "known_deviations.yaml")).value
    return rows


def _deviation(raw: dict[str, Any], of: str = "") -> Deviation:
    return Deviation(
        text=raw["text"],
        versions=_versions(raw),
        source=raw["source"],
        when=_condition(raw.get("when")),
        absent=tuple(raw.get("absent", ())),
        strided=tuple(raw.get("strided", ())),
        where=raw.get("where"),
        since=raw.get("since"),
        until=raw.get("until"),
        device=raw.get("device"),
        is_of_graphs=raw.get("is_of_graphs", False),
        as_of=str(raw["as_of"]) if "as_of" in raw else None,
        values=_text(raw.get("values")),
        gives=_text(raw.get("gives")),
        as_if={name: str(expression) for name, expression in raw["as_if"].items()} if "as_if" in raw else None,
        refusal=raw.get("refusal"),
        of=of,
        errors={name: float(most) for name, most in raw.get("errors", {}).items()},
    )


def _text(raw: Any) -> str | None:
    """Read an expression, which may be a number."""
    return None if raw is None else str(raw)


def _versions(raw: dict[str, Any]) -> str:
    """Return in words the versions of DirectML and the devices that have a deviation."""
    since, until = raw.get("since"), raw.get("until")
    if until is None:
        text = f"not fixed as of {raw['as_of']}"
    else:
        text = f"before {until}" if since is None else f"fixed in {until}"
    device = f", on {raw['device']}" if "device" in raw else ""
    return (text if since is None else f"from {since}, {text}") + device


def _tolerance(raw: dict[str, Any]) -> Tolerance:
    return Tolerance(
        exact=raw.get("exact", False),
        ulp=raw.get("ulp"),
        absolute=raw.get("absolute"),
        relative=raw.get("relative"),
        when=_condition(raw.get("when")),
        source=raw.get("source", ""),
        ulp_per_exponent=raw.get("ulp_per_exponent"),
        present=tuple(raw.get("present", ())),
    )
