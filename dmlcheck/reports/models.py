"""Checked ONNX models as text: the nodes that need most or are wrong, the operators, and what the whole model needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dmlcheck.diagnostics.record import ERROR
from dmlcheck.diagnostics.wording import counted, visible
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.layout import Line, Style, Table
from dmlcheck.running.legality import Validated
from dmlcheck.running.models import ModelResult
from dmlcheck.specs.names import FEATURE_LEVELS, LEVEL_ORDER, level_and_version, level_name

_MOST = 10  # nodes of a kind that are named
_NOTES = {  # what the table has for a node without descs, and what the last line says of one and of several
    "runs-elsewhere": ("runs elsewhere", "runs elsewhere", "run elsewhere"),
    "unknown-sizes": ("unknown sizes", "of unknown sizes", "of unknown sizes"),
    "not-mapped": ("not mapped", "not mapped", "not mapped"),
    "onnx-syntax": ("wrong", "wrong", "wrong"),
}


def model_lines(model: ModelResult, style: Style) -> Iterator[Line]:
    """Yield what `validate` prints of a model."""
    if model.problem is not None:
        yield diagnostic_text(model.problem, None, style)
        return
    yield from _wrong_lines(model, style)
    yield from _demanding_lines(model)
    yield from _note_lines(model)
    yield ""
    if model.checked:
        yield f"{visible(model.file)}, as {model.mapping} maps it:"
        yield Table(
            ("ONNX operator", "nodes", "DirectML operators", "from"), _rows(model.descs), right=False, lead="  "
        )
        yield ""
    yield from _verdict(model)


def _wrong_lines(model: ModelResult, style: Style) -> Iterator[str]:
    """Yield what is wrong with nodes, and what is known of DirectML's own mistakes."""
    for desc in model.descs:
        errors = [problem for problem in desc.diagnostics if problem.severity == ERROR]
        if errors and desc.operator is not None:
            yield f"{visible(desc.label)}: {desc.onnx_operator} becomes {desc.operator}, which is not valid{_at(desc)}:"
        for problem in errors:
            yield diagnostic_text(problem, None, style)
    times = Counter(note for desc in model.descs for note in desc.notes)
    for note, number in times.items():
        yield diagnostic_text(note._replace(message=f"{note.message}, {counted(number, 'node')}"), None, style)


def _at(desc: Validated) -> str:
    if desc.minimum is None:
        return " at any level"
    return f" at {level_name(desc.feature_level or '')}, only from {level_and_version(desc.minimum)}"


def _demanding_lines(model: ModelResult) -> Iterator[str]:
    """Yield the nodes that need the highest level, where others need less."""
    levels = {desc.minimum for desc in model.descs if desc.minimum is not None}
    if len(levels) < 2:
        return
    highest = max(levels, key=LEVEL_ORDER.__getitem__)
    needing = [desc for desc in model.descs if desc.minimum == highest]
    for desc in needing[:_MOST]:
        yield f"{visible(desc.label)}: {desc.onnx_operator} becomes {desc.operator}, from {level_and_version(highest)}"
    if len(needing) > _MOST:
        yield f"{counted(len(needing) - _MOST, 'more node')} of that level"


def _note_lines(model: ModelResult) -> Iterator[str]:
    """Yield why nodes were not checked, each reason once with the first node that has it."""
    told: Counter[str] = Counter()
    first: dict[str, Validated] = {}
    for desc in model.descs:
        if desc.operator is None and desc.diagnostics[0].severity != ERROR:
            reason = f"{desc.diagnostics[0].rule}: {desc.diagnostics[0].message.partition('): ')[2]}"
            told[reason] += 1
            first.setdefault(reason, desc)
    for reason, desc in first.items():
        more = f" (and {counted(told[reason] - 1, 'more node')})" if told[reason] > 1 else ""
        yield f"{visible(desc.label)}: {desc.onnx_operator}: note[{reason.partition(': ')[0]}]: " + visible(
            reason.partition(": ")[2] + more
        )


def _rows(descs: Sequence[Validated]) -> list[tuple[str, str, str, str]]:
    """Return a row for each ONNX operator and what becomes of it, in the order of the model."""
    kinds: dict[tuple[str, str], list[Validated]] = {}
    for name, entries in _by_node(descs).items():
        made = " + ".join(dict.fromkeys(_becomes(desc) for desc in entries))
        kinds.setdefault((entries[0].onnx_operator or name, made), []).extend(entries)
    rows: list[tuple[str, str, str, str]] = []
    for (operator, made), entries in sorted(kinds.items()):
        nodes = len({desc.node for desc in entries})
        rows.append((visible(operator), str(nodes), made, _highest(entries)))
    return rows


def _by_node(descs: Iterable[Validated]) -> dict[str, list[Validated]]:
    found: dict[str, list[Validated]] = {}
    for desc in descs:
        found.setdefault(desc.node or "", []).append(desc)
    return found


def _becomes(desc: Validated) -> str:
    return desc.operator or _NOTES[desc.diagnostics[0].rule][0]


def _highest(entries: Iterable[Validated]) -> str:
    """Return the lowest level that takes all of some descs, or "never"."""
    levels = [desc.minimum for desc in entries if desc.operator is not None]
    known = [level for level in levels if level is not None]
    if len(known) < len(levels):
        return "never"
    return max(known, key=LEVEL_ORDER.__getitem__) if known else ""


def _verdict(model: ModelResult) -> Iterator[str]:
    """Yield the level that the model needs, the nodes that need it, and how many nodes were not checked."""
    highest = model.minimum
    if highest is not None:
        names = list(dict.fromkeys(desc.name for desc in model.descs if desc.minimum == highest))
        shown = ", ".join(map(visible, names[:_MOST])) + (", ..." if len(names) > _MOST else "")
        needed = f"{visible(model.file)} needs {level_and_version(highest)}"
        yield f"{needed}, because of {counted(len(names), 'node')}: {shown}"
        yield _against_device(highest, model.device_level)
    elif model.checked:
        yield f"{visible(model.file)} is valid at no level"
    parts = [f"{counted(model.checked, 'node')} checked"]
    parts += [
        f"{number} {many if number > 1 else one}"
        for rule, (_, one, many) in _NOTES.items()
        if (number := model.noted(rule))
    ]
    yield ", ".join(parts)
    if model.symbols and model.noted("unknown-sizes"):
        options = " ".join(f"--dim {visible(symbol)}=SIZE" for symbol in model.symbols)
        yield f"sizes that are open: {options}"


def _against_device(needed: str, device_level: str) -> str:
    """Return whether a DirectML that the provider accepts can still be too old for a model."""
    oldest, version = (FEATURE_LEVELS[level].directml for level in (device_level, needed))
    accepted = f"ONNX Runtime accepts a DirectML.dll from version {oldest} on"
    if LEVEL_ORDER[needed] <= LEVEL_ORDER[device_level]:
        return f"{accepted}; each takes all nodes that were checked"
    return f"{accepted}; with one before {version}, making the session or a run fails"
