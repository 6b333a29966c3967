"""Helps obeyed by a machine: what a file looks like after someone does what the help of a diagnostic says.

A help is made of parts with "; " between them. A part that says what to do has one of the forms below, and each form
gives the texts that come of it: one for each way to obey. A part may also only inform; it gives none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.specs.names import LEVEL_ORDER

_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Entry:
    """A key with its value, or an item of a list (whose `key` is None), in the mapping or list `within`."""

    start: int  # of the key, or of the item
    end: int  # of the value
    key: str | None
    value: yaml.Node
    within: yaml.Node


class Marked:
    """A text, and everything in it that stands under a key or in a list; nothing where the text is no YAML."""

    def __init__(self, text: str, *, is_json: bool) -> None:
        self.text = text
        readable = _without_comments(text) if is_json else text
        try:
            root = yaml.compose(readable, Loader=_LOADER)
        except yaml.YAMLError:
            root = None
        self.root = root
        self.entries = [] if root is None else list(_entries(root, set()))

    def offset(self, line: int, column: int) -> int:
        """Return where in the text a line and a column are, as an editor counts them."""
        starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self.text))]
        return starts[line - 1] + column - 1

    def at(self, offset: int) -> Entry | None:
        """Return the innermost entry whose key, value or item begins at a place."""
        found = [one for one in self.entries if offset in (one.start, one.value.start_mark.index)]
        return max(found, key=lambda one: one.start, default=None)

    def around(self, offset: int) -> list[Entry]:
        """Return the entries that a place is in, the innermost first."""
        found = [one for one in self.entries if one.start <= offset < one.end]
        return sorted(found, key=lambda one: one.start, reverse=True)

    def replaced(self, start: int, end: int, new: str) -> str:
        """Return the text with something else between two places."""
        return self.text[:start] + new + self.text[end:]

    def without(self, entry: Entry) -> str:
        """Return the text without an entry."""
        siblings = [one for one in self.entries if one.within is entry.within]
        index = siblings.index(entry)
        if index + 1 < len(siblings):
            return self.replaced(_start(self.text, entry), _start(self.text, siblings[index + 1]), "")
        if index:
            before = siblings[index - 1].end
            return self.replaced(before, entry.end, "\n" if self.text[:before].endswith("\n") else "")
        empty = "[]" if entry.key is None else "{}"
        return self.replaced(
            entry.within.start_mark.index, entry.end if _is_block(entry.within) else _end(entry), empty
        )

    def added(self, mapping: yaml.Node, key: str, value: str) -> str:
        """Return the text with one more key in a mapping."""
        start = mapping.start_mark.index
        quoted = f'"{key}": {value}' if self.text[start:].startswith("{") else f"{key}: {value}"
        if _is_block(mapping):
            return self.replaced(start, start, f"{quoted}\n{' ' * mapping.start_mark.column}")
        return self.replaced(start + 1, start + 1, f"{quoted}, " if mapping.value else quoted)


def _is_block(node: yaml.Node) -> bool:
    return not node.flow_style


def _end(entry: Entry) -> int:
    return entry.within.end_mark.index


def _start(text: str, entry: Entry) -> int:
    """Return where an entry begins; an item of a block list at its dash."""
    if entry.key is None and _is_block(entry.within):
        return text.rindex("-", 0, entry.start)
    return entry.start


def _without_comments(text: str) -> str:
    """Return JSON with spaces in place of its comments."""
    return _COMMENTS.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)


def _entries(node: yaml.Node, seen: set[int]) -> Iterator[Entry]:
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if value.start_mark.index >= key.end_mark.index:  # an alias has the place of its anchor
                yield Entry(key.start_mark.index, value.end_mark.index, str(key.value), value, node)
                yield from _entries(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield Entry(item.start_mark.index, item.end_mark.index, None, item, node)
            yield from _entries(item, seen)


class Unreadable(Exception):
    """The text is no YAML, so that nothing of it can be taken away or added by a machine."""


class Place(NamedTuple):
    """Where a diagnostic points in a text: what it marks, and the entries around it."""

    text: Marked
    found: Diagnostic
    start: int
    end: int

    @property
    def marked(self) -> str:
        """What the carets stand under."""
        return self.text.text[self.start : self.end]

    def write(self, new: str) -> str:
        """Return the text with something in the place of what is marked; quotes stay."""
        quote = self.marked[:1] if self.marked[:1] in "\"'" and not new.startswith(("[", "{", '"')) else ""
        return self.text.replaced(self.start, self.end, quote + new + quote)

    def entry(self) -> Entry:
        """Return the key or the item that is marked."""
        entry = self.text.at(self.start)
        if entry is None:
            raise Unreadable
        return entry

    def nearest(self, name: str) -> Entry:
        """Return the entry of a key: in what is marked, around it, or the nearest beside what is around it."""
        for outer in self.text.around(self.start):
            for one in self.text.entries:
                if one.key == name and (one.within is outer.value or one.within is outer.within):
                    return one
        raise Unreadable

    def default(self, name: str) -> Entry:
        """Return the entry of a field in the desc that all cases of a file have."""
        descs = [one.value for one in self.text.entries if one.key == "desc" and one.within is self.text.root]
        return next(one for one in self.text.entries if one.key == name and one.within in descs)


Form = Callable[..., "Iterator[str]"]
FORMS: dict[str, Form] = {}


def form(pattern: str) -> Callable[[Form], Form]:
    """Add a form: what to do with a place, given the groups of a pattern that all of a part matches."""

    def add(function: Form) -> Form:
        FORMS[pattern] = function
        return function

    return add


def ways_to_obey(text: str, found: Diagnostic, *, is_json: bool) -> list[str] | None:
    """Return the texts that come of obeying a help, one for each way; None where a part of it has none of the forms."""
    assert found.help is not None
    assert found.line is not None
    assert found.column is not None
    marked = Marked(text, is_json=is_json)
    start = marked.offset(found.line, found.column)
    place = Place(marked, found, start, start + found.width)
    texts = []
    for part in found.help.split("; "):
        matches = [(function, match) for pattern, function in FORMS.items() if (match := re.fullmatch(pattern, part))]
        if not matches:
            return None
        function, match = matches[0]
        try:
            texts += function(place, *match.groups())
        except Unreadable:
            return None
    return texts


# ---- names


@form(r"did you mean (.+)\?")
@form(r"the nearest is (\w+)")
@form(r".+ is \w+'s name: write (\w+)(?: or \w+)*")
def _another_name(place: Place, name: str) -> Iterator[str]:
    if "${" not in place.marked:
        yield place.write(name)
        return
    variable = re.fullmatch(r"the matrix has no key (\w+)", place.found.message)
    if variable:
        yield place.write(place.marked.replace("${" + variable[1] + "}", "${" + name + "}"))
    else:  # what the matrix has for it
        wrong = re.search(r" is '?([^';]+)'?", place.found.message)
        assert wrong is not None
        yield place.text.text.replace(f'"{wrong[1]}"', f'"{name}"')


@form(r"(?:its keys|its fields|a tensor's fields) are (.+)")
def _a_known_name(place: Place, names: str) -> Iterator[str]:
    here = {one.key for one in place.text.entries if one.within is place.entry().within}
    free = [name for name in names.split(", ") if name not in here]
    yield from map(place.write, free[:1])
    if not free:  # all of them are there
        yield place.text.without(place.entry())


@form(r"it has (\w+)")
def _a_key_of_the_matrix(place: Place, name: str) -> Iterator[str]:
    yield place.write(re.sub(rf"\$\{{(?!{name}\}})\w+\}}", f"${{{name}}}", place.marked))


@form(r"remove one of the two")
def _only_one_of_two(place: Place) -> Iterator[str]:
    twice = place.entry()
    same = [one for one in place.text.entries if one.within is twice.within and one.key == twice.key]
    yield place.text.without(twice)
    yield place.text.without(same[0])


@form(r"(?:or )?leave (\w+) out")
def _without(place: Place, name: str) -> Iterator[str]:
    yield place.text.without(place.nearest(name))


@form(r"leave (.+) out")
def _without_name(place: Place, name: str) -> Iterator[str]:
    assert name in place.marked
    yield place.text.without(place.entry())


@form(r"write (\w+) under desc")
def _under_desc(place: Place, field: str) -> Iterator[str]:
    entry = place.entry()
    values = yaml.safe_load(place.text.text)
    moved = Marked(place.text.without(entry), is_json=False)
    desc = next(one for one in moved.entries if one.key == "desc")
    yield moved.added(desc.value, field, yaml.safe_dump(values[entry.key], default_flow_style=True).strip())


@form(r"give both or neither")
def _neither(place: Place) -> Iterator[str]:
    assert place.found.help is not None
    yield place.text.without(place.nearest(place.found.help.split(" ")[0]))


@form(r"each case has its own name")
def _without_this_key(place: Place) -> Iterator[str]:
    yield place.text.without(place.entry())


@form(r"give each case a name of its own")
def _own_name(place: Place) -> Iterator[str]:
    name = place.marked.strip("\"'")
    yield place.write(f"{name}-of-line-{place.found.line}")


@form(r"name each axis once")
def _without_this_item(place: Place) -> Iterator[str]:
    yield place.text.without(place.entry())


# ---- values


@form(r"(?:[^:;]*: |below it, )?write (\[.*\]|-?\d+|true|false)")
def _write(place: Place, value: str) -> Iterator[str]:
    yield place.write(value)


@form(r"write (\d+)(?: or more)?, or leave (\w+) out")
def _write_or_leave_out(place: Place, value: str, name: str) -> Iterator[str]:
    yield place.write(value)
    yield from _without(place, name)


@form(r"packed strides are (\[.*\]), as if Strides were left out")
def _packed(place: Place, strides: str) -> Iterator[str]:
    given = place.nearest("Strides")
    yield place.text.replaced(given.value.start_mark.index, given.end, strides)
    yield place.text.without(given)


@form(r"(?:use|cast to) (\w+)")
@form(r"below it, (?:use|cast to) (\w+)")
def _use(place: Place, name: str) -> Iterator[str]:
    yield place.write(name)


@form(r"use (\w+) for both((?:, and for \w+)*)")
def _use_for_both(place: Place, name: str, more: str) -> Iterator[str]:
    fields = [place.nearest(field) for field in re.findall(r"for (\w+)", more)]
    edits = sorted([(place.start, place.end), *((one.value.start_mark.index, one.end) for one in fields)])
    text = place.text.text
    for start, end in reversed(edits):
        text = text[:start] + name + text[end:]
    yield text


@form(r"use (\w+) or (\w+)")
def _use_either(place: Place, *names: str) -> Iterator[str]:
    yield from map(place.write, names)


@form(r"(?:below it, )?add leading dimensions of size 1 to rank (\d+)(.*)")
def _more_dimensions(place: Place, rank: str, axes: str) -> Iterator[str]:
    sizes = yaml.safe_load(place.marked)
    yield _with_axes(place, place.write(str([1] * (int(rank) - len(sizes)) + sizes)), axes)


@form(r"(?:below it, )?drop leading dimensions of size 1 to rank (\d+)(.*)")
def _fewer_dimensions(place: Place, rank: str, axes: str) -> Iterator[str]:
    sizes = yaml.safe_load(place.marked)
    yield _with_axes(place, place.write(str(sizes[len(sizes) - int(rank) :])), axes)


def _with_axes(place: Place, text: str, axes: str) -> str:
    """Return a text with the axes that a help asks for in the desc of a place: `, and write Axis: 3`."""
    for field, value in re.findall(r", and write (\w+): (\d+|\[.*?\])", axes):
        now = place._replace(text=Marked(text, is_json=False))
        desc = now.nearest("desc").value
        given = [one for one in now.text.entries if one.within is desc and one.key == field]
        if given:
            text = now.text.replaced(given[0].value.start_mark.index, given[0].end, value)
        else:
            text = now.text.added(desc, field, value)
    return text


@form(r"(?:.*: |below it, )?to repeat it, write Sizes: (\[.*\]), Strides: (\[.*\])")
def _repeated(place: Place, sizes: str, strides: str) -> Iterator[str]:
    yield _strided(place, sizes, strides)


@form(r"to repeat .* along a dimension, give it the full size and a stride of 0")
def _stride_of_0(place: Place) -> Iterator[str]:
    found = re.search(r"Sizes\[(\d+)\] is 1; it must be (\d+)", place.found.message)
    if found is None:  # it is about dimensions of 1
        return
    axis, size = int(found[1]), found[2]
    sizes = place.nearest("Sizes")
    own = [int(item.value) for item in sizes.value.value]
    given = [one for one in place.text.entries if one.within is sizes.within and one.key == "Strides"]
    if given:
        strides = [int(item.value) for item in given[0].value.value]
    else:
        strides = [math.prod(own[index + 1 :]) for index in range(len(own))]
    own[axis], strides[axis] = int(size), 0
    yield _strided(place, str(own), str(strides))


def _strided(place: Place, sizes: str, strides: str) -> str:
    """Return the text with other sizes and strides of the tensor that a place is in."""
    given = place.nearest("Sizes")
    text = place.text.replaced(given.value.start_mark.index, given.end, sizes)
    marked = Marked(text, is_json=False)
    tensor = marked.at(given.start)
    assert tensor is not None
    old = [one for one in marked.entries if one.within is tensor.within and one.key == "Strides"]
    if old:
        return marked.replaced(old[0].value.start_mark.index, old[0].end, strides)
    return marked.added(tensor.within, "Strides", strides)


@form(r"(?:or )?give (\w+) (\d+) elements?")
def _as_many(place: Place, array: str, count: str) -> Iterator[str]:
    desc = place.nearest("desc").value
    own = [one for one in place.text.entries if one.key == array and one.within is desc]
    items = [item.value for item in (own[0] if own else place.default(array)).value.value]
    whole = f"[{', '.join((items + items[-1:] * int(count))[: int(count)])}]"
    if own:
        yield place.text.replaced(own[0].value.start_mark.index, own[0].end, whole)
    else:
        yield place.text.added(desc, array, whole)


@form(r"write (\w+): (\w+) if that is meant")
def _another_value(place: Place, field: str, value: str) -> Iterator[str]:
    given = place.nearest(field)
    yield place.text.replaced(given.value.start_mark.index, given.end, value)


# ---- fields that are missing


@form(r"(\w+) is a mapping such as (\{.+\})")
@form(r"(\w+) is one of (\w+)[ \w]*")
def _give(place: Place, field: str, value: str) -> Iterator[str]:
    yield _given(place, field, value)


@form(r"(\w+) is a list of whole numbers from 0 to 4294967295")
def _give_list(place: Place, field: str) -> Iterator[str]:
    yield _given(place, field, "[0]")


def _given(place: Place, field: str, value: str) -> str:
    """Return the text with a field in the mapping that is marked, in that of the key that is, or in place of null."""
    entry = place.entry()
    if entry.key == field:
        return place.text.replaced(entry.start, entry.end, f"{field}: {value}")
    return place.text.added(entry.value, field, _as_json(value) if place.text.text.startswith("{") else value)


def _as_json(value: str) -> str:
    return value if value[0] in "[{" else f'"{value}"'


# ---- feature levels


@form(r"accepted from DML_FEATURE_LEVEL_(\w+) \(.*\)")
@form(r"it came with DML_FEATURE_LEVEL_(\w+) \(.*\)")
def _at_a_higher_level(place: Place, level: str) -> Iterator[str]:
    yield at_level(place.text, level)


def at_level(marked: Marked, level: str) -> str:
    """Return a text whose cases are all at a feature level at least."""
    text = marked.text
    for one in reversed(marked.entries):
        if one.key == "feature_level" and LEVEL_ORDER.get(str(one.value.value), -1) < LEVEL_ORDER[level]:
            text = text[: one.value.start_mark.index] + f'"{level}"' + text[one.end :]
    return text


# ---- what only informs

INFORMING = (
    r"DirectML has no \w+",
    r"DirectML [\d.]+(?: to [\d.]+)? accepts? it, so it is not the reason for an E_INVALIDARG there",
    r"from \d_\d, .*",
    r".+ is given already",
    r"\w+ is given",
    r"\w+ is left out: it is the length of \w+, \d+ elements?",
    r"no feature level accepts .*",
    r"DML_OPERATOR_\w+, which it supersedes, exists from .*",
)


@form("|".join(INFORMING))
def _nothing(place: Place) -> Iterator[str]:  # noqa: ARG001 - there is nothing to do
    yield from ()
