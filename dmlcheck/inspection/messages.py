"""Messages of DirectML and of the programs that use it: which is meant, and the rows of the specs it can come from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.diagnostics.wording import dimension_counts_text, plural
from dmlcheck.files import yaml
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, level_and_version
from dmlcheck.specs.records import OperatorSpec, SupportTable
from dmlcheck.validation.conditions import free_names

_NEAREST = 3  # messages that are offered for an unknown one
_WORD, _NUMBER = r"[\w\[\]]{1,99}", r"[0-9]{1,9}"
_NODE = re.compile(rf"\brunning ({_WORD}) node\b", re.IGNORECASE)  # of a model, as ONNX Runtime names it
_PLACEHOLDERS = {
    **dict.fromkeys(("tensor", "other", "type", "other_type", "binding", "operator"), _WORD),
    **dict.fromkeys(("count", "least", "most", "size", "other_size", "axis", "other_axis", "index", "line"), _NUMBER),
    "version": r"[0-9.]{1,99}[0-9]",
}


class Message(NamedTuple):
    """A row of messages.yaml, which explains its fields."""

    patterns: tuple[str, ...]
    by: str
    means: str
    remedy: str
    sources: tuple[str, ...]
    rules: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    is_code: bool = False
    is_place: bool = False
    late: tuple[tuple[str, str], ...] = ()


class MessageSource(NamedTuple):
    """Where a message can come from: a labelled constraint (`GEMM/C3`), an operator (`GEMM`) or its support table."""

    label: str
    text: str


class Explained(NamedTuple):
    """A message that was found in a text, as it is quoted, and the rows of the specs that it can come from."""

    message: Message
    pattern_text: str
    origins: tuple[MessageSource, ...]


@cache
def messages() -> tuple[Message, ...]:
    """Return all messages that are known."""
    document = yaml.read(os.path.join(os.path.dirname(__file__), "messages.yaml"))
    if document.problems:
        raise ValueError(document.problems[0].message)
    return tuple(_message(row) for row in document.value)


def _message(row: dict[str, Any]) -> Message:
    lists: dict[str, Any] = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return Message(**{**row, **lists, "late": tuple(row.get("late", {}).items())})


def explained(text: str) -> list[Explained]:
    """Return the known messages that a text has; error codes only if it has nothing better, places at the end."""
    text = _with_codes(text)
    found = list(filter(None, (_found(message, text) for message in messages())))
    known = [one.pattern for one in found if not one.message.is_place]
    places = [one for one in found if one.message.is_place and not _is_told(one.pattern, known)]
    told = [one for one in found if not (one.message.is_code or one.message.is_place)]
    told = told or [one for one in found if one.message.is_code][:1]
    operators = tuple(dict.fromkeys(filter(None, map(full_name, re.findall(OPERATOR_PREFIX + r"\w+", text)))))
    return [
        Explained(
            message,
            pattern_text(pattern),
            (*_origins(message, names, operators), *_late(message, text), *_refused(message, operators)),
        )
        for message, pattern, names in [*told, *places]
    ]


_DECIMAL = re.compile(r"(?<![\w.])-?[0-9]{9,10}(?![\w.])")


def _with_codes(text: str) -> str:
    """Return a text with its error codes as they are written in messages too: some programs print signed decimals."""
    found = [int(number) for number in _DECIMAL.findall(text)]
    codes = [f"{number % 2**32:08X}" for number in found if number < 0 or 2**31 <= number < 2**32]
    return " ".join([text, *codes])


def _is_told(place: str, patterns: list[str]) -> bool:
    """Whether a message is about any single line of the file of a place."""
    return any(pattern.startswith(place.partition("{line}")[0]) for pattern in patterns if "{line}" in place)


def nearest_messages(text: str) -> list[str]:
    """Return the messages that have most of their words in common with a text, the nearest first.

    They share at least two words, and at least half the words of either.
    """
    given = _words(text)
    shares: dict[str, float] = {}
    for message in messages():
        for pattern in message.patterns:
            words = _words(re.sub(r"\{\w+\}", "", pattern))
            shared = len(given & words)
            if shared > 1 and 2 * shared >= min(len(given), len(words)):
                shares[pattern_text(pattern)] = shared / len(words)
    return sorted(shares, key=shares.__getitem__, reverse=True)[:_NEAREST]


def pattern_text(pattern: str) -> str:
    """Return the text of a pattern, with its placeholders."""
    return pattern.replace(" | ", " ")


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}|[0-9a-f]{8}", text.casefold()))


# ---- finding a message in a text


class _Found(NamedTuple):
    """A message in a text: the pattern, and the texts in place of the placeholders."""

    message: Message
    pattern: str
    names: dict[str, str]


def _found(message: Message, text: str) -> _Found | None:
    """Return where a text has a message, or None where it does not."""
    for pattern in message.patterns:
        match = _expression(pattern).search(text)
        if match:
            return _Found(message, pattern, {name: value for name, value in match.groupdict().items() if value})
    return None


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern: any white space and quotes, and an end that may be cut off after any word."""
    start, _, rest = pattern.partition(" | ")
    tail = ""
    for token in reversed(rest.split()):
        tail = rf"(?:\s+{_token(token)}{tail})?"
    return re.compile(r"\s+".join(map(_token, start.split())) + tail, re.IGNORECASE)


def _token(token: str) -> str:
    """Return the expression of a word of a pattern; quotes and a full stop may be left out."""
    parts = re.split(r"\{(\w+)\}", token.removesuffix("."))
    literals = [re.escape(part).replace("'", "['\"\u2018\u2019`]?") for part in parts[::2]]
    names = [f"(?P<{name}>{_PLACEHOLDERS[name]})" for name in parts[1::2]]
    return "".join(a + b for a, b in zip(literals, [*names, ""], strict=True)) + (r"\.?" if token[-1] == "." else "")


# ---- the rows that it can come from


def _origins(message: Message, names: dict[str, str], operators: tuple[str, ...]) -> Iterator[MessageSource]:
    """Yield the rows of the specs that a message can come from, of the operators that the text names if it does."""
    if "tensor" not in names:
        return
    for spec in map(load_spec, operators or operator_names()):
        if "count" in names:
            yield from _tables(spec, names)
        if message.words:
            given = [set(_fields(spec, names[key])) for key in ("tensor", "other") if key in names]
            for row in spec.constraints:
                if row.word in message.words:
                    named = set(_named(spec, row.args))
                    if all(not fields.isdisjoint(named) for fields in given):
                        yield MessageSource(f"{spec.short}/{row.id}", row.text)


def _late(message: Message, text: str) -> Iterator[MessageSource]:
    """Yield the operators of a later feature level that the nodes of a text can become."""
    for node in dict.fromkeys(_NODE.findall(text)):
        operator = full_name(dict(message.late).get(node, ""))
        if operator is not None:
            spec = load_spec(operator)
            yield MessageSource(
                spec.short, f"{node} can become it; DirectML has it from {level_and_version(spec.introduced)}"
            )


def _refused(message: Message, operators: tuple[str, ...]) -> Iterator[MessageSource]:
    """Yield the descs that DirectML refuses with an error code after CreateOperator took them.

    Those that a single device refuses are only of texts that name their operator: most users have other devices.
    """
    codes = [f"0x{pattern[:8]}" for pattern in message.patterns] if message.is_code else []
    for spec in map(load_spec, (operators or operator_names()) if codes else ()):
        for row in spec.known_deviations:
            if row.refusal in codes and (operators or row.device is None):
                yield MessageSource(spec.short, row.text if row.device is None else f"on {row.device}: {row.text}")


def _fields(spec: OperatorSpec, name: str) -> Iterator[str]:
    """Yield the tensors that messages call by a name: 'A', or 'ATensor', is ATensor."""
    bare = name.partition("[")[0].casefold()
    for field in (*spec.inputs, *spec.outputs):
        if field.name.casefold() in (bare, f"{bare}tensor", f"{bare}tensors"):
            yield field.name


def _named(spec: OperatorSpec, args: Any) -> Iterator[str]:
    """Yield the fields that the arguments of a constraint name, in expressions too."""
    if isinstance(args, str):
        for name in free_names(args):
            yield from _named(spec, spec.let[name]) if name in spec.let else (name,)
    elif isinstance(args, dict):
        yield from args
        yield from _named(spec, list(args.values()))
    elif isinstance(args, list):
        for part in args:
            yield from _named(spec, part)


def _tables(spec: OperatorSpec, names: dict[str, str]) -> Iterator[MessageSource]:
    """Yield the rows of an operator's support tables for a tensor whose number of dimensions a message refuses.

    A message that ends before the limits can come from the newest rows only.
    """
    limits = tuple(int(names[key]) for key in ("least", "most") if key in names)
    for field in _fields(spec, names["tensor"]):
        rows = [row for table in spec.support for row in _rows(table, field, is_newest=len(limits) < 2)]
        for span, dims in dict.fromkeys(rows):
            if int(names["count"]) not in dims and (len(limits) < 2 or limits == (dims[0], dims[-1])):
                counts = f"{dimension_counts_text(dims)} {plural(dims[-1], 'dimension')}"
                yield MessageSource(spec.short, f"{field} takes {counts} {span}")


def _rows(table: SupportTable, field: str, *, is_newest: bool) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the levels of the rows of a support table, newest first, with the dimension counts of a tensor."""
    until = ""
    for level, row in table.rows.items():
        if field in row:
            yield f"from {level}{until}", row[field].dims
        if is_newest:
            return
        until = f", before {level}"
