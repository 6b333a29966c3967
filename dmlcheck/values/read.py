"""The values of tensors: lists, bit patterns, generators and files to arrays in a tensor's layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding
from dmlcheck.diagnostics.wording import braces, brackets, counted, describe, misspelt, unknown_names
from dmlcheck.files.document import Path
from dmlcheck.files.plain import open_plain
from dmlcheck.specs.names import DATA_TYPES, integer_range
from dmlcheck.values import generators
from dmlcheck.values.literals import Array, Literals, Source, is_any, plain_numbers
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES, round_exact, spell

FORMS = ("fill", "sequence", "random", "file", "bits", "buffer")
_GENERATORS = frozenset(["sequence", "random"])


def read_values(label: str, tensor: TensorDesc, raw: Any, path: Path, source: Source) -> Checking[Array | None]:
    """Read a tensor's values in its logical shape and data type; None if something is wrong with them.

    The result may be a view with the tensor's strides, and must not be written to.
    """
    reader = _Reader(label, tensor, path, source)
    if type(raw) is list:
        return (yield from reader.from_list(raw, reader.literals(raw).array))
    if isinstance(raw, Mapping):
        return (yield from reader.from_form(raw))
    if isinstance(raw, np.ndarray):
        return (yield from reader.from_array(raw))
    is_element = isinstance(raw, (int, float)) and not isinstance(raw, bool)
    help = f"write {{fill: {raw}}}" if is_element or (is_any(raw) and path[:1] == ("outputs",)) else None
    yield reader.mistyped((), label, raw, f"a list, or {_A_FORM}", help)
    return None


def plain_values(tensor: TensorDesc, raw: Any) -> Array | None:
    """Return a packed tensor's values where they are a list of numbers, as most are; else None, for `read_values`."""
    flat = _flat(raw, tensor) if type(raw) is list and tensor.strides is None else None
    values = None if flat is None else plain_numbers(flat, tensor.data_type)
    return None if values is None else values.reshape(tensor.sizes)


_A_FORM = f"a mapping with one of {', '.join(FORMS)}"


def is_generated(raw: Any) -> bool:
    """Whether a generator makes the values of a tensor."""
    return isinstance(raw, Mapping) and not _GENERATORS.isdisjoint(raw)


def bytes_needed(tensor: TensorDesc, raw: Any) -> int:
    """Return how many bytes reading a tensor's values will allocate."""
    if isinstance(raw, Mapping) and "fill" in raw:
        return 0
    if isinstance(raw, np.ndarray) and raw.dtype == NUMPY_TYPES[tensor.data_type] and not tensor.shares_places:
        return 0
    if is_generated(raw) and tensor.shares_places:
        return tensor.extent * NUMPY_TYPES[tensor.data_type].itemsize
    return math.prod(_distinct_sizes(tensor)) * NUMPY_TYPES[tensor.data_type].itemsize


def _distinct_sizes(tensor: TensorDesc) -> tuple[int, ...]:
    """Return the sizes with 1 for every dimension along which a stride of 0 repeats the elements."""
    if tensor.strides is None:
        return tensor.sizes
    return tuple(size if stride else 1 for size, stride in zip(tensor.sizes, tensor.strides, strict=True))


class _Reader(NamedTuple):
    """The context of one tensor's values: its name and desc, and their place in the case."""

    label: str
    tensor: TensorDesc
    path: Path
    source: Source

    def literals(self, raw: list[Any] | None, steps: Path = ()) -> Literals:
        return Literals(self.label, self.tensor, raw, (*self.path, *steps), self.source)

    # ---- what is wrong

    def wrong(self, steps: Path, rule: str, params: dict[str, Any], help: str | None = None) -> Finding:
        return Finding(rule, (*self.path, *steps), params, help=help, at_key=rule == "unknown-key")

    def mistyped(self, steps: Path, what: str, found: Any, expected: str, help: str | None = None) -> Finding:
        return self.wrong(steps, "wrong-type", {"what": what, "found": describe(found), "expected": expected}, help)

    def unknown_keys(self, steps: Path, given: Mapping[str, Any], known: Any, where: str) -> Checking[bool]:
        found = list(unknown_names(given, known))
        for key, help in found:
            yield self.wrong((*steps, key), "unknown-key", {"where": where, "key": key}, help)
        return bool(found)

    def miscounted(self, found: str, steps: Path = ()) -> Finding:
        expected = f"its Sizes {braces(self.tensor.sizes)} take {counted(self.tensor.element_count, 'element')}"
        return self.wrong(steps, "element-count", {"tensor": self.label, "found": found, "expected": expected})

    def unfit(self, steps: Path, element: str, found: str, help: str | None = None) -> Finding:
        params = {"element": element, "found": found, "type": self.tensor.data_type}
        return self.wrong(steps, "value-not-representable", params, help)

    # ---- lists

    def from_list(
        self, raw: list[Any], read: Callable[[list[Any]], Checking[Array | None]], steps: Path = ()
    ) -> Checking[Array | None]:
        """Read the elements of a list, nested like the sizes or flat, in row-major order."""
        flat = _flat(raw, self.tensor)
        if flat is None or list in set(map(type, flat)):
            yield self.miscounted(_shape_text(raw), steps)
            return None
        values = yield from read(flat)
        return None if values is None else (yield from self.laid_out(values.reshape(self.tensor.sizes)))

    # ---- layouts

    def laid_out(self, values: Array) -> Checking[Array | None]:
        """Return logical values as a buffer with the tensor's strides; elements that share a place must be equal."""
        stored = _stored(self.tensor, values)
        if stored is values:
            return values
        differs = (values != stored) & ((values == values) | (stored == stored))  # noqa: PLR0124 - NaN is not itself
        if not differs.any():
            return stored
        where = tuple(int(axis[0]) for axis in np.nonzero(differs))
        params = {
            "element": f"{self.label}{brackets(where)}",
            "found": spell(values[where].item(), self.tensor.data_type),
            "expected": spell(stored[where].item(), self.tensor.data_type),
        }
        yield self.wrong((), "conflicting-elements", params, "give the buffer's elements: {buffer: [...]}")
        return None

    def strided(self, buffer: Array) -> Array:
        """Return the tensor's view of the elements of its buffer."""
        tensor = self.tensor
        if tensor.strides is None:
            return buffer[: tensor.element_count].reshape(tensor.sizes)
        steps = tuple(stride * buffer.itemsize for stride in tensor.strides)
        return np.lib.stride_tricks.as_strided(buffer, tensor.sizes, steps, writeable=False)

    # ---- mappings

    def from_form(self, raw: Mapping[str, Any]) -> Checking[Array | None]:
        if (yield from self.unknown_keys((), raw, FORMS, f"the mapping for {self.label}")):
            return None
        if len(raw) != 1:
            found = "an empty mapping" if not raw else f"a mapping with {' and '.join(raw)}"
            yield self.wrong((), "wrong-type", {"what": self.label, "found": found, "expected": _A_FORM})
            return None
        ((form, value),) = raw.items()
        return (yield from _READERS[form](self, value))

    def from_fill(self, raw: Any) -> Checking[Array | None]:
        values = yield from self.literals(None, ("fill",)).array([raw])
        return None if values is None else np.broadcast_to(values, self.tensor.sizes)

    def from_bits(self, raw: Any) -> Checking[Array | None]:
        if isinstance(raw, list):
            return (yield from self.from_list(raw, self.literals(raw, ("bits",)).bit_patterns, ("bits",)))
        yield self.mistyped(("bits",), "bits", raw, "a list of whole numbers")
        return None

    def from_buffer(self, raw: Any) -> Checking[Array | None]:
        tensor = self.tensor
        if not isinstance(raw, list) or not raw or list in set(map(type, raw)):
            yield self.mistyped(("buffer",), "buffer", raw, "a flat list of the buffer's elements")
            return None
        least = tensor.extent
        total = tensor.buffer_bytes
        most = max(least, total * 8 // DATA_TYPES[tensor.data_type].bits)
        label = f"{self.label}'s buffer"
        if not least <= len(raw) <= most:
            takes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            expected = f"its sizes and strides take {takes}"
            params = {"tensor": label, "found": counted(len(raw), "element"), "expected": expected}
            yield self.wrong(("buffer",), "element-count", params)
            return None
        buffer = TensorDesc(tensor.data_type, (len(raw),))
        values = yield from Literals(label, buffer, raw, (*self.path, "buffer"), self.source).array(raw)
        return None if values is None else self.strided(values)

    # ---- generators

    def generated_count(self) -> int:
        """Return how many elements a generator makes."""
        return self.tensor.extent if self.tensor.shares_places else math.prod(_distinct_sizes(self.tensor))

    def generated(self, elements: Array) -> Array:
        """Return the tensor that a generator's elements make."""
        if self.tensor.shares_places:
            return self.strided(elements)
        return np.broadcast_to(elements.reshape(_distinct_sizes(self.tensor)), self.tensor.sizes)

    def from_sequence(self, raw: Any) -> Checking[Array | None]:
        settings = yield from self.settings("sequence", raw, {"start": 0, "step": 1})
        if settings is None:
            return None
        start, step, count = settings["start"], settings["step"], self.generated_count()
        last = start + (count - 1) * step
        unfit = self.not_held("sequence", "start", start) or self.not_held("sequence", "step", last)
        if unfit is not None:
            yield unfit
            return None
        return self.generated(generators.sequence(self.tensor.data_type, count, start, step))

    def from_random(self, raw: Any) -> Checking[Array | None]:
        settings = yield from self.settings("random", raw, {"seed": None, "low": 0, "high": 1, "binades": 0})
        if settings is None:
            return None
        seed, low, high, binades = (settings[key] for key in ("seed", "low", "high", "binades"))
        if type(seed) is not int:
            wrong: Finding | None = self.mistyped(("random", "seed"), "random.seed", seed, "a whole number")
        elif low > high:
            wrong = self.mistyped(("random", "high"), "random.high", high, f"at least low, {low}")
        elif type(binades) is not int or not 0 <= binades <= self.most_binades:
            expected = (
                f"a whole number from 0 to {self.most_binades}" if self.most_binades else "0: only floats have binades"
            )
            wrong = self.mistyped(("random", "binades"), "random.binades", binades, expected)
        else:
            wrong = self.not_held("random", "low", low) or self.not_held("random", "high", high)
        if wrong is not None:
            yield wrong
            return None
        made = generators.random(self.tensor.data_type, self.generated_count(), seed, low, high, binades)
        return self.generated(made)

    @property
    def most_binades(self) -> int:
        """Over how many powers of two random numbers of the tensor's data type may be spread."""
        return generators.MOST_BINADES if self.tensor.data_type in FORMATS else 0

    def settings(self, form: str, raw: Any, defaults: dict[str, Any]) -> Checking[dict[str, Any] | None]:
        """Return the numbers of a generator, exactly as written, defaults filled in; the whole ones as int."""
        if not isinstance(raw, Mapping):
            yield self.mistyped((form,), form, raw, f"a mapping with {', '.join(defaults)}")
            return None
        is_wrong = yield from self.unknown_keys((form,), raw, defaults, form)
        settings = {}
        meant = misspelt(raw, defaults).values()
        for key, default in defaults.items():
            if key in meant:
                continue
            settings[key] = number = yield from self.setting(form, key, raw.get(key, default))
            is_wrong = is_wrong or number is None
        return None if is_wrong else settings

    def setting(self, form: str, key: str, value: Any) -> Checking[int | Fraction | None]:
        if type(value) is int:
            return value
        if type(value) is float and math.isfinite(value):
            exact = self.source.as_written((*self.path, form, key), value)
            return int(exact) if exact.denominator == 1 else exact
        if value is None:
            yield self.wrong((form, key), "missing-key", {"where": form, "key": key})
        else:
            yield self.mistyped((form, key), f"{form}.{key}", value, "a finite number")
        return None

    def not_held(self, form: str, key: str, value: Any) -> Finding | None:
        """Return the finding about a generator's extreme value if the data type cannot hold it."""
        data_type = self.tensor.data_type
        if data_type in FORMATS:
            is_held = math.isfinite(round_exact(Fraction(value), data_type))
        else:
            low, high = integer_range(data_type)
            is_held = type(value) is int and low <= value <= high
        found = describe(value) if type(value) is int else _figure(value)
        return None if is_held else self.unfit((form, key), f"a value of {self.label}", found)

    # ---- files

    def from_file(self, raw: Any) -> Checking[Array | None]:
        if not isinstance(raw, str) or not raw:
            yield self.mistyped(("file",), "file", raw, "the path of a .npy file")
            return None
        values = self.loaded(raw)
        if isinstance(values, Finding):
            yield values
            return None
        return (yield from self.stored(values.reshape(self.tensor.sizes), raw, ("file",)))

    def loaded(self, given: str) -> Array | Finding:
        """Return the array of a file, or the finding about the file."""
        from dmlcheck.files import npy

        full, problem = npy.find(self.source.folder, given)
        if problem is not None:
            help = "put / between folders: every system takes it" if "\\" in given else None
            return self.wrong(("file",), "file-not-found", {"path": given, "problem": problem}, help)
        try:
            with open_plain(full) as file:
                header = npy.Header(file)
                wrong = self.disagreement(header.shape, header.dtype, given, ("file",))
                return wrong or npy.read_elements(file, header)
        except OSError as error:
            return self.wrong(("file",), "file-not-found", {"path": given, "problem": error.strerror or str(error)})
        except ValueError as error:
            params = {"what": given, "found": f"unreadable: {error}", "expected": "an array as numpy.save writes it"}
            return self.wrong(("file",), "wrong-type", params)

    def from_array(self, raw: Array) -> Checking[Array | None]:
        """Return a caller's array, rounded once if it has another data type."""
        tensor = self.tensor
        wanted = NUMPY_TYPES[tensor.data_type]
        if isinstance(raw, np.ma.MaskedArray):
            yield self.mistyped((), self.label, raw, "an array without a mask", "fill what is masked: array.filled(0)")
            return None
        if raw.dtype.newbyteorder("=") == wanted and raw.shape == tensor.sizes:
            return (yield from self.stored(raw.astype(wanted, copy=False), "the array", ()))
        is_numeric = raw.dtype.kind in "iuf" and raw.dtype.itemsize <= 8  # not longdouble, whose elements are no floats
        if is_numeric and raw.shape in (tensor.sizes, (tensor.element_count,)):
            flat: list[Any] = raw.reshape(-1).tolist()
            return (yield from self.from_list(flat, self.literals(flat).array))
        wrong = self.disagreement(raw.shape, wanted if is_numeric else raw.dtype, "the array", ())
        if wrong is not None:
            yield wrong
        return None

    def stored(self, values: Array, what: str, steps: Path) -> Checking[Array | None]:
        """Return an array of the tensor's sizes and NumPy type, in its layout; numbers of 4-bit types must fit them."""
        if DATA_TYPES[self.tensor.data_type].bits < 8:  # else the array's own type says it
            low, high = integer_range(self.tensor.data_type)
            beyond = values[(values < low) | (values > high)]
            if beyond.size:
                help = f"{self.tensor.data_type} can hold {low} to {high}"
                yield self.unfit(steps, f"an element of {what}", str(beyond[0]), help)
                return None
        return (yield from self.laid_out(values))

    def disagreement(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str, steps: Path) -> Finding | None:
        """Return the finding about an array with another data type than the tensor, or other sizes; it may be flat."""
        wanted = NUMPY_TYPES[self.tensor.data_type]
        if dtype.newbyteorder("=") != wanted:
            return self.unfit(steps, what, f"an array of {dtype}", f"save it as {wanted}")
        if tuple(shape) not in (self.tensor.sizes, (self.tensor.element_count,)):
            return self.miscounted(f"the shape {braces(shape)} in {what}", steps)
        return None


_READERS: dict[str, Callable[[_Reader, Any], Checking[Array | None]]] = {
    "fill": _Reader.from_fill,
    "sequence": _Reader.from_sequence,
    "random": _Reader.from_random,
    "file": _Reader.from_file,
    "bits": _Reader.from_bits,
    "buffer": _Reader.from_buffer,
}


def _flat(raw: list[Any], tensor: TensorDesc) -> list[Any] | None:
    """Return the elements of a list that is nested like a tensor's sizes, or flat, or None where it is neither.

    An element may be a list once more.
    """
    level = raw
    if not raw or type(raw[0]) is list:
        for size in tensor.sizes[1:]:
            if set(map(type, level)) != _OF_LISTS or set(map(len, level)) != {size}:
                return None
            level = list(chain.from_iterable(level))
    return level if len(level) == math.prod(tensor.sizes) else None


_OF_LISTS = {list}


def _stored(tensor: TensorDesc, values: Array) -> Array:
    """Return values as a tensor's buffer holds them: of several elements in one place, the first."""
    if tensor.strides is None:
        return values
    if tensor.shares_places:
        steps = (np.arange(size) * stride for size, stride in zip(tensor.sizes, tensor.strides, strict=True))
        _, first, place = np.unique(sum(np.ix_(*steps)), return_index=True, return_inverse=True)
        return values.reshape(-1)[first[place.reshape(-1)]].reshape(tensor.sizes)
    sizes = _distinct_sizes(tensor)
    if sizes == tensor.sizes:
        return values
    return np.broadcast_to(values[tuple(map(slice, sizes))], tensor.sizes)


def _figure(value: Fraction) -> str:
    """Return a rational number of any magnitude as text."""
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "a number beyond FLOAT64"


def _shape_text(raw: list[Any]) -> str:
    """Return the shape of nested lists in words, or that they have none."""
    shape: list[int] = []
    level: list[Any] = [raw]
    while level and set(map(type, level)) == {list}:
        lengths = set(map(len, level))
        if len(lengths) != 1:
            return f"lists of {' and '.join(map(str, sorted(lengths)))} elements side by side"
        shape.append(lengths.pop())
        if math.prod(shape) > 10**7:
            return "far too many elements"
        level = list(chain.from_iterable(level))
    if list in set(map(type, level)):
        return "numbers and lists side by side"
    if len(shape) == 1:
        return counted(shape[0], "element")
    return f"the shape {braces(shape)}"
