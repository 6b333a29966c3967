"""Checked ONNX models and graphs as text: the nodes that need the most or are wrong, the operators, and the level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.diagnostics.wording import counted, first_few, visible
from dmlcheck.models.graphs import GraphResult
from dmlcheck.onnx.descs.node import NO_PROVIDER, PROVIDER_REFUSES, REFUSALS
from dmlcheck.onnx.model.named_sizes import options_of
from dmlcheck.reports.diagnostics import at_pointer, diagnostic_text
from dmlcheck.reports.layout import Line, Style, Table
from dmlcheck.running.legality import Validated, WholeCheck
from dmlcheck.specs.names import FEATURE_LEVELS, LEVEL_ORDER, highest, level_and_version, level_name

if TYPE_CHECKING:
    from dmlcheck.models.legality import ModelResult, NodeResult

_MOST = 10  # nodes of a kind that are named
_NOTES = {  # by rule: the text in the table for a node without descs, and in the last line for one and for several
    NO_PROVIDER: ("no provider", "that no provider takes", "that no provider takes"),
    PROVIDER_REFUSES: ("refused", "that a provider refuses", "that a provider refuses"),
    "runs-elsewhere": ("runs elsewhere", "runs elsewhere", "run elsewhere"),
    "unknown-sizes": ("unknown sizes", "of unknown sizes", "of unknown sizes"),
    "not-mapped": ("not mapped", "not mapped", "not mapped"),
    "onnx-syntax": ("wrong", "wrong", "wrong"),
}


def model_lines(model: ModelResult, style: Style) -> Iterator[Line]:
    """Yield the text of `validate` for a model."""
    if model.problem is not None:
        yield diagnostic_text(model.problem, None, style)
        return
    yield from _wrong_lines(model, style)
    for rule in REFUSALS:
        yield from _unusable_lines(model, rule, style)
    yield from _known_lines(model, style)
    yield from _demanding_lines(model)
    for rule in ("runs-elsewhere", "unknown-sizes", "not-mapped"):
        yield from _unusable_lines(model, rule, style)
    yield ""
    if model.checked:
        yield f"{visible(model.file)}, as {model.mapping} maps it:"
        yield Table(
            ("ONNX operator", "nodes", "DirectML operators", "from"), _rows(model.nodes), right=False, lead="  "
        )
        yield ""
    if model.fusions:
        made = [fusion.made for fusion in model.fusions]
        yield "unless its optimizations are turned off, ONNX Runtime fuses nodes to:"
        yield Table(("operator", "nodes", "DirectML operators", "from"), _rows(made), right=False, lead="  ")
        yield ""
    yield from _verdict(model)


def _wrong_lines(model: ModelResult, style: Style) -> Iterator[str]:
    """Yield the findings about nodes, equal ones once, and a note if there are more."""
    wrong: dict[tuple[Diagnostic, ...], list[Validated]] = {}
    for desc in model.entries:
        errors = tuple(problem for problem in desc.diagnostics if problem.severity != NOTE)
        if errors and errors[0].rule not in REFUSALS:
            wrong.setdefault(errors, []).append(desc)
    for errors, descs in wrong.items():
        for desc in descs:
            if desc.operator is not None:
                becomes = f"{_label(desc)} becomes {desc.operator}"
                yield f"{becomes}, which is not valid{_at(desc)}:"
        for problem in errors:
            yield diagnostic_text(problem, None, style)


def _known_lines(model: ModelResult, style: Style) -> Iterator[str]:
    """Yield known mistakes of DirectML with their nodes."""
    known: dict[Diagnostic, list[str]] = {}
    for desc in model.descs:
        for note in desc.notes:
            known.setdefault(note, []).append(desc.name)
    for note, names in known.items():
        yield diagnostic_text(note._replace(message=f"{note.message}, {_named(names)}"), None, style)


def _label(desc: Validated) -> str:
    return visible(f"{desc.label}: {desc.onnx_operator}")


def _named(names: Iterable[str]) -> str:
    """Return how many nodes there are, and the names of the first ones."""
    different = list(dict.fromkeys(names))
    shown = ", ".join(map(visible, different[:_MOST])) + (", ..." if len(different) > _MOST else "")
    return f"{counted(len(different), 'node')}: {shown}"


def _at(desc: Validated) -> str:
    if desc.minimum is None:
        return " at any level"
    return f" at {level_name(desc.feature_level or '')}, only from {level_and_version(desc.minimum)}"


def _demanding_lines(model: ModelResult) -> Iterator[str]:
    """Yield the nodes that need the highest level, where others need less and no error says it."""
    levels = {desc.minimum for desc in model.descs if desc.minimum is not None}
    if len(levels) < 2:
        return
    highest = max(levels, key=LEVEL_ORDER.__getitem__)
    needing = [desc for desc in model.descs if desc.minimum == highest and not desc.diagnostics]
    told = list(dict.fromkeys((_label(desc), desc.operator) for desc in needing))
    for label, operator in told[:_MOST]:
        yield f"{label} becomes {operator}, from {level_and_version(highest)}"
    if len(told) > _MOST:
        yield f"{counted(len(told) - _MOST, 'more node')} of that level"


def _unusable_lines(model: ModelResult, rule: str, style: Style) -> Iterator[str]:
    """Yield why nodes were not checked: the first reasons of a rule, each once with the first node that has it.

    Of sizes that are not known it is where this begins, with the number of nodes that depend on it.
    """
    reasons: dict[object, list[NodeResult]] = {}
    for node in model.nodes:
        if node.unusable is not None and node.unusable.rule == rule:
            reasons.setdefault(node.unusable.root or node.unusable, []).append(node)
    for nodes in list(reasons.values())[:_MOST]:
        yield from _told(nodes, style)
    left = sum(map(len, list(reasons.values())[_MOST:]))
    if left:
        _, one, many = _NOTES[rule]
        yield f"{counted(left, 'more node')} {many if left > 1 else one}; --format json lists all"


def _told(nodes: list[NodeResult], style: Style) -> Iterator[str]:
    """Yield why nodes were not checked, with the first of them."""
    why, count = nodes[0].unusable, len(nodes)
    if why is None:
        return
    more = f" (and {counted(count - 1, 'more node')})" if count > 1 else ""
    if why.root:
        more = f"; {counted(count, 'node')} {'depend' if count > 1 else 'depends'} on {visible(why.root)}"
    severity = style(f"error[{why.rule}]", "red") if why.is_error else f"note[{why.rule}]"
    yield f"{_label(nodes[0].descs[0])}: {severity}: {visible(why.reason)}{more}"
    if why.help:
        yield f"  help: {visible(why.help)}"


def _rows(nodes: Iterable[NodeResult]) -> list[tuple[str, str, str, str]]:
    """Return a row for each ONNX operator and its descs."""
    kinds: dict[tuple[str, str], list[NodeResult]] = {}
    for node in nodes:
        made = " + ".join(dict.fromkeys(desc.operator or "" for desc in node.descs))
        if node.unusable is not None:
            made = _NOTES[node.unusable.rule][0]
        kinds.setdefault((node.operator, made), []).append(node)
    return [
        (visible(operator), str(len(alike)), made, _highest(desc for node in alike for desc in node.descs))
        for (operator, made), alike in sorted(kinds.items())
    ]


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
        names = _named(desc.name for desc in model.descs if desc.minimum == highest)
        least = "at least " if model.is_partial else ""
        yield f"{visible(model.file)} needs {least}{level_and_version(highest)}, because of {names}"
        yield from _fused_verdict(model)
        yield _against_device(model.fused_minimum or highest, model.device_level)
    elif model.checked:
        yield f"{visible(model.file)} is valid at no level"
    if model.refusal is not None:
        yield f"{visible(model.file)}: error: it {model.refusal}"
    parts = [f"{counted(model.checked, 'node')} checked"]
    parts += [
        f"{number} {many if number > 1 else one}"
        for rule, (_, one, many) in _NOTES.items()
        if (number := model.noted(rule))
    ]
    yield ", ".join(parts)
    if model.symbols and model.noted("unknown-sizes"):
        options = options_of(map(visible, model.symbols))
        yield f"give the unknown sizes with {first_few(options, _MOST, ' ')}"


def _fused_verdict(model: ModelResult) -> Iterator[str]:
    """Yield the level that the model needs with its nodes fused, and the fused nodes that need it."""
    needed = model.fused_minimum
    yield from _possible_lines(model)
    if not model.fusions:
        return
    if needed is None:
        yield "as ONNX Runtime fuses it, it is valid at no level"
    elif needed == model.minimum:
        yield "as ONNX Runtime fuses it, it needs the same level"
    else:
        least = "at least " if model.is_fused_partial else ""
        names = [fusion.name for fusion in model.fusions if fusion.minimum == needed]
        because = f", because of {_named(names)}" if names else ""
        yield f"as ONNX Runtime fuses it, it needs {least}{level_and_version(needed)}{because}"


def _possible_lines(model: ModelResult) -> Iterator[str]:
    """Yield the operators that ONNX Runtime may make besides, with nodes of them."""
    for operator in dict.fromkeys(operator for operator, _ in model.possible):
        names = [name for each, name in model.possible if each == operator]
        need = "which needs no higher level than the normalization that it is made with"
        yield f"ONNX Runtime may also fuse nodes to {operator}, {need}: {_named(names)}"


def _against_device(needed: str, device_level: str) -> str:
    """Return whether a DirectML that the provider accepts can still be too old for a model."""
    oldest, version = (FEATURE_LEVELS[level].directml for level in (device_level, needed))
    accepted = f"ONNX Runtime accepts DirectML.dll {oldest} and later"
    if LEVEL_ORDER[needed] <= LEVEL_ORDER[device_level]:
        return f"{accepted}; each of these takes all nodes that were checked"
    return f"{accepted}; with one older than {version}, the session cannot be created or a run fails"


# ---- graphs: the mistakes, the operators, and the level from which the whole graph is valid


def whole_lines(whole: WholeCheck, style: Style) -> Iterator[Line]:
    """Yield the text of `validate` for a graph or an ONNX model."""
    if isinstance(whole, GraphResult):
        return graph_lines(whole, style)
    return model_lines(cast("ModelResult", whole), style)


def answer_lines(entries: Iterable[Validated]) -> Iterator[str]:
    """Yield the answers of DirectML's library to the descs of nodes: each refusal, and how many it accepts."""
    asked = [(entry, entry.answer) for entry in entries if entry.answer is not None]
    for entry, answer in asked:
        if not answer.is_accepted:
            operator = visible(entry.operator or "")
            yield f"{visible(entry.label)}: {operator}: DirectML {answer.version} {answer.text}"
    if asked:
        accepted = sum(answer.is_accepted for _, answer in asked)
        yield f"DirectML {asked[0][1].version} accepts {accepted:,} of {counted(len(asked), 'desc')}"


def graph_lines(graph: GraphResult, style: Style) -> Iterator[Line]:
    """Yield the text of `validate` for a graph."""
    if graph.problem is not None:
        yield diagnostic_text(graph.problem, None, style)
        return
    for entry in graph.entries:
        if entry.operator is not None and entry.diagnostics:
            yield f"{visible(entry.label)}: {visible(entry.operator)} is not valid{_at_of_graph(entry)}:"
        for problem in (*entry.diagnostics, *entry.notes):
            yield diagnostic_text(at_pointer(problem), None, style)
    yield ""
    if graph.checked:
        yield f"{visible(graph.file)}:"
        yield Table(("DirectML operator", "nodes", "from"), _graph_rows(graph), right=False, lead="  ")
        yield ""
    yield from _graph_verdict(graph)


def _at_of_graph(desc: Validated) -> str:
    if desc.minimum is None:
        return " at any level"
    if LEVEL_ORDER[desc.minimum] <= LEVEL_ORDER[desc.feature_level or desc.minimum]:
        return " in this graph"
    return f" at {level_name(desc.feature_level or '')}, only from {level_and_version(desc.minimum)}"


def _graph_rows(graph: GraphResult) -> list[tuple[str, str, str]]:
    """Return a row for each operator: how many nodes there are, and from which level on all of them are valid."""
    kinds: dict[str, list[Validated]] = {}
    for desc in graph.descs:
        kinds.setdefault(desc.operator or "", []).append(desc)
    levels = {operator: highest(desc.minimum for desc in descs) for operator, descs in kinds.items()}
    rows = sorted(kinds.items())
    return [(visible(operator), f"{len(descs):,}", levels[operator] or "never") for operator, descs in rows]


def _graph_verdict(graph: GraphResult) -> Iterator[str]:
    """Yield the level from which the graph is valid, the nodes that need it, and the numbers of the check."""
    if graph.minimum is not None:
        names = ", ".join(map(visible, graph.demanding[:_MOST])) + (", ..." if len(graph.demanding) > _MOST else "")
        because = f"because of {counted(len(graph.demanding), 'node')}: {names}"
        yield f"{visible(graph.file)} is valid from {level_and_version(graph.minimum)}, {because}"
    elif graph.checked:
        yield f"{visible(graph.file)} is valid at no level"
    yield f"{counted(graph.checked, 'node')} checked, {counted(graph.constants, 'constant')}"
