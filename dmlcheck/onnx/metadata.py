"""The metadata of models: what dmlcheck writes, from which a case comes back unchanged, and the origins of nodes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.diagnostics.wording import cut

PREFIX = "dmlcheck."  # the prefix of the keys in a model's metadata

_KEPT: dict[str, type | tuple[type, ...]] = {
    "case": str,
    "operator": str,
    "desc": dict,
    "feature_level": str,
    "source": str,
    "note": str,
    "tags": list,
    "tolerance": (str, dict),
    "given": list,
}


def add(model: Any, case: Case, desc: OperatorDesc, given: Sequence[str]) -> None:
    """Add to a model the metadata of its case: above all its operator and desc; `given` are its own outputs."""
    kept: dict[str, Any] = {
        "case": case.id,
        "operator": desc.spec.operator,
        "desc": notation(desc),
        "feature_level": case.feature_level,
        "source": case.source,
        "note": case.note,
        "tags": list(case.tags) or None,
        "tolerance": None if case.tolerance is None else case.tolerance.notation,
        "given": list(given),
    }
    for key, value in kept.items():
        if value is not None:
            entry = model.metadata_props.add()
            entry.key, entry.value = PREFIX + key, json.dumps(value, sort_keys=True)


def case_metadata(model: Any) -> dict[str, Any]:
    """Return the metadata that an export has added to a model; nothing if it is not in an export's form."""
    kept: dict[str, Any] = {}
    for entry in model.metadata_props:
        if not isinstance(entry.key, str):  # protobuf gives bytes for text that is not UTF-8
            return {}
        key = entry.key.removeprefix(PREFIX)
        if key == entry.key:
            continue
        try:
            kept[key] = json.loads(entry.value)
        except (ValueError, RecursionError):
            return {}
        if not isinstance(kept[key], _KEPT.get(key, ())):
            return {}
    return kept


# ---- where in a program a node comes from, if the program's exporter left that in the node


_MOST = 200  # characters of a line of a program
# `File "model.py", line 12, in forward`, and the line after it; the innermost call comes last.
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([^\n]+))?(?:\n[ \t]+(?!File ")([^\n]+))?')
# `model.py(12): forward`, as older exporters have it; the innermost call comes first.
_OLD_FRAME = re.compile(r"^(?:#\s*)?(\S[^\n]*?)\((\d+)\): (\S+)", re.MULTILINE)
_OF_EXPORTER = re.compile(r"(?:^|[/\\])(?:torch|onnxscript)[/\\]")  # files of the exporter itself
_TRACE, _SCOPES, _NAMESPACE = "pkg.torch.onnx.stack_trace", "pkg.torch.onnx.name_scopes", "namespace"


class NodeOrigin(NamedTuple):
    """Where a node comes from: the module of the network (`h.0.mlp`) and the line of the program; "" if not known."""

    module: str = ""
    line: str = ""


def origin_of(node: Any) -> NodeOrigin:
    """Return where a node comes from, by its metadata, its doc_string and its name."""
    notes = {_text(entry.key): _text(entry.value) for entry in getattr(node, "metadata_props", ())}
    traces = notes.get(_TRACE, ""), _text(node.doc_string)
    line = next((text for trace in traces for text in _lines(trace)), "")
    module = _of_scopes(notes.get(_SCOPES, "")) or _of_namespace(notes.get(_NAMESPACE, "")) or _of_name(node.name)
    return NodeOrigin(cut(module, _MOST), cut(line, _MOST))


def _text(value: str | bytes) -> str:
    """Return a text of a model; protobuf gives bytes for one that is not UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _lines(trace: str) -> Iterator[str]:
    """Yield the innermost line of a stack trace that is not the exporter's own."""
    frames = [(*found[:3], found[3].strip()) for found in _FRAME.findall(trace)][::-1]
    frames = frames or [(*found, "") for found in _OLD_FRAME.findall(trace)]
    own = [frame for frame in frames if not _OF_EXPORTER.search(frame[0])]
    for file, number, function, code in (own or frames)[:1]:
        yield f"{file}:{number}" + (f" in {function}" if function else "") + (f": {code}" if code else "")


def _of_scopes(text: str) -> str:
    """Return the last module of a list of scopes, which ends with the node's own: `['', 'h.0', 'h.0.mlp', 'mm']`."""
    try:
        scopes = ast.literal_eval(text) if text else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    named = [scope for scope in scopes[:-1] if isinstance(scope, str) and scope] if isinstance(scopes, list) else []
    return named[-1] if named else ""


def _of_namespace(text: str) -> str:
    """Return the last module of a namespace: `: Model/h.0: Block/h.0.mlp: MLP/mm: aten.mm.default`."""
    names = [part.partition(":")[0].strip() for part in text.split("/")[:-1]]
    return next((name for name in reversed(names) if name), "")


def _of_name(name: str) -> str:
    """Return the modules in a name: `/model/layers.0/mlp/MatMul_1`."""
    scopes = name.split("/")[1:-1] if name.startswith("/") else []
    return ".".join(filter(None, scopes))
