"""YAML 1.2 and JSON files as plain values, read strictly."""

from __future__ import annotations

import os

from dmlcheck.files.document import Document
from dmlcheck.files.plain import NotPlain, TooLarge, read_plain, reason
from dmlcheck.files.scalars import MAX_DEPTH, MAX_DIGITS, MAX_NODES

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_DIGITS", "MAX_NODES", "parse", "read"]

MAX_BYTES = 32 * 2**20


def read(path: str) -> Document:
    """Read a YAML or JSON file; its errors are in the document's problems."""
    name = path.replace(os.sep, "/")
    document = Document(name, "")
    try:
        data = read_plain(path, MAX_BYTES)
    except TooLarge as error:
        document.refuse(_too_large(name, error.size), None, _SMALLER, rule="file-too-large")
        return document
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        help = "`validate -` and `eval -` read standard input" if isinstance(error, NotPlain) else None
        document.refuse(reason(error), None, help, rule="file-not-found")
        return document
    return parse(data, name, is_json=path.lower().endswith(".json"))


def parse(data: bytes, name: str, *, is_json: bool | None = None) -> Document:
    """Parse a file's bytes; without `is_json`, text that opens with a brace or bracket is tried as JSON first."""
    if len(data) > MAX_BYTES:
        document = Document(name, "")
        document.refuse(_too_large(name, len(data)), None, _SMALLER, rule="file-too-large")
        return document
    wide = _wide(data)
    if wide is not None:
        document = Document(name, "")
        document.refuse(f"the file is {wide}; dmlcheck reads UTF-8", document.place(0), _SAVE)
        return document
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_utf8(name, data, error)
    looks_like_json = text.lstrip()[:1] in ("{", "[")
    if is_json or (is_json is None and looks_like_json):
        from dmlcheck.files.json import parse_json

        document = parse_json(name, text)
        if is_json or document.value is not None:
            return document
    return _parse_yaml(name, text)


def _parse_yaml(name: str, text: str) -> Document:
    from dmlcheck.files import libyaml

    document = Document(name, text, lambda most: libyaml.nodes_of(text, most))
    document.value, document.item_lines, repeated, refused = libyaml.parse(document)
    document.problems.extend(document.duplicates(repeated))
    if refused is not None:
        document.refuse(str(refused), document.inside(refused.position), refused.help, refused.rule)
    return document


# ---- files that cannot be read


_SAVE = "save the file as UTF-8"
_FIRST = 64  # bytes: in a plain text of wide characters some of two or four are always zero
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def _wide(data: bytes) -> str | None:
    """Return the encoding of a file whose characters have two or four bytes, None for any other."""
    marked = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    first = data[:_FIRST]
    if marked is not None or b"\0" not in first:
        return marked
    if len(first) >= 4 and sum(not first[at::4].strip(b"\0") for at in range(4)) >= 3:
        return "UTF-32"
    return None if all(first[at::2].strip(b"\0") for at in range(2)) else "UTF-16"


def _too_large(name: str, size: int) -> str:
    return f"{name} has {size:,} bytes; dmlcheck reads files of up to {MAX_BYTES:,}"


_SMALLER = "put the values into .npy files, which `{file: data/x.npy}` reads, or split the file"


def _not_utf8(name: str, data: bytes, error: UnicodeDecodeError) -> Document:
    help: str | None = _SAVE
    if b"\0" in data[:8192]:
        problem, help = "the file is binary, not YAML or JSON", None
    else:
        problem = f"the byte 0x{error.object[error.start]:02X} is not UTF-8"
    # The error counts from after a byte order mark.
    document = Document(name, error.object.decode("utf-8", "replace"))
    before = error.object[: error.start].decode("utf-8")
    document.refuse(problem, document.place(len(before)), help)
    return document
