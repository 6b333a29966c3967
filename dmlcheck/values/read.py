"""The values of tensors: lists, bit patterns, generators and files to arrays in a tensor's layout, and back to text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import describe, elements_text, unknown_names
from dmlcheck.files import npy
from dmlcheck.files.document import Path
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.values import generators
from dmlcheck.values.literals import Array, Literals, Source, integer_range
from dmlcheck.values.number_formats import FORMATS, NUMPY_TYPES, round_exact, spell

FORMS = ("fill", "sequence", "random", "file", "bits", "buffer")


def read_values(
    label: str, tensor: TensorDesc, raw: Any, path: Path, source: Source, findings: list[Finding]
) -> Array | None:
    """Return a tensor's values in its logical shape and data type, or None with what is wrong among the findings.

    The result may be a view with the tensor's strides, and must not be written to.
    """
    reader = _Reader(label, tensor, path, source, findings)
    if type(raw) is list:
        flat = reader.flat(raw)
        values = None if flat is None else reader.literals(raw).array(flat)
        return None if values is None else reader.laid_out(values.reshape(tensor.sizes))
    if isinstance(raw, Mapping):
        return reader.form(raw)
    if isinstance(raw, np.ndarray):
        return reader.from_array(raw)
    help = f"write {{fill: {raw}}}" if isinstance(raw, (int, float)) and not isinstance(raw, bool) else None
    reader.mistyped((), label, raw, f"a list, or a mapping with one of {', '.join(FORMS)}", help)
    return None


def bytes_needed(tensor: TensorDesc, raw: Any) -> int:
    """Return how many bytes reading a tensor's values will allocate."""
    if isinstance(raw, Mapping) and "fill" in raw:
        return 0
    if isinstance(raw, np.ndarray) and raw.dtype == NUMPY_TYPES[tensor.data_type] and not tensor.shares_places:
        return 0
    if isinstance(raw, Mapping) and ("sequence" in raw or "random" in raw) and tensor.shares_places:
        return tensor.extent * NUMPY_TYPES[tensor.data_type].itemsize
    return math.prod(_distinct_sizes(tensor)) * NUMPY_TYPES[tensor.data_type].itemsize


def _distinct_sizes(tensor: TensorDesc) -> tuple[int, ...]:
    """Return the sizes with 1 for every dimension along which a stride of 0 repeats the elements."""
    if tensor.strides is None:
        return tensor.sizes
    return tuple(size if stride else 1 for size, stride in zip(tensor.sizes, tensor.strides, strict=True))


class _Reader:
    """One tensor's values being read."""

    def __init__(self, label: str, tensor: TensorDesc, path: Path, source: Source, findings: list[Finding]) -> None:
        self.label = label
        self.tensor = tensor
        self.path = path
        self.source = source
        self.findings = findings

    def literals(self, raw: list[Any] | None, steps: Path = ()) -> Literals:
        return Literals(self.label, self.tensor, raw, (*self.path, *steps), self.source, self.findings)

    # ---- what is wrong

    def wrong(self, steps: Path, rule: str, params: dict[str, Any], help: str | None = None) -> None:
        at_key = rule == "unknown-key"
        self.findings.append(Finding(rule, (*self.path, *steps), params, help=help, at_key=at_key))

    def mistyped(self, steps: Path, what: str, found: Any, expected: str, help: str | None = None) -> None:
        self.wrong(steps, "wrong-type", {"what": what, "found": describe(found), "expected": expected}, help)

    def unknown_keys(self, steps: Path, given: Mapping[str, Any], known: Any, where: str) -> bool:
        found = list(unknown_names(given, known))
        for key, help in found:
            self.wrong((*steps, key), "unknown-key", {"where": where, "key": key}, help)
        return bool(found)

    def miscounted(self, found: str, steps: Path = ()) -> None:
        expected = f"its Sizes {_braces(self.tensor.sizes)} take {elements_text(self.tensor.element_count)}"
        self.wrong(steps, "element-count", {"tensor": self.label, "found": found, "expected": expected})

    # ---- lists

    def flat(self, raw: list[Any], steps: Path = ()) -> list[Any] | None:
        """Return the elements of a list, nested like the sizes or flat, in row-major order."""
        level = raw
        is_nested = not raw or type(raw[0]) is list
        for size in self.tensor.sizes[1:] if is_nested else ():
            if set(map(type, level)) != {list} or set(map(len, level)) != {size}:
                level = []
                break
            level = list(chain.from_iterable(level))
        if len(level) == self.tensor.element_count and list not in set(map(type, level)):
            return level
        self.miscounted(_shape_text(raw), steps)
        return None

    # ---- layouts

    def laid_out(self, values: Array) -> Array | None:
        """Return logical values as a buffer with the tensor's strides would hold them; shared places must agree."""
        tensor = self.tensor
        if tensor.strides is None:
            return values
        if tensor.shares_places:
            steps = (np.arange(size) * stride for size, stride in zip(tensor.sizes, tensor.strides, strict=True))
            _, first, place = np.unique(sum(np.ix_(*steps)), return_index=True, return_inverse=True)
            stored = values.reshape(-1)[first[place.reshape(-1)]].reshape(tensor.sizes)
        else:
            kept = _distinct_sizes(tensor)
            if kept == tensor.sizes:
                return values
            index = tuple(slice(count) for count in kept)
            stored = np.broadcast_to(values[index], tensor.sizes)
        differs = (values != stored) & ((values == values) | (stored == stored))  # noqa: PLR0124 - NaN is not itself
        if differs.any():
            where = tuple(int(axis[0]) for axis in np.nonzero(differs))
            params = {
                "element": f"{self.label}[{', '.join(map(str, where))}]",
                "found": spell(values[where].item(), tensor.data_type),
                "expected": spell(stored[where].item(), tensor.data_type),
            }
            self.wrong((), "conflicting-elements", params, "give the buffer's elements: {buffer: [...]}")
            return None
        return stored

    def strided(self, buffer: Array) -> Array:
        """Return the tensor's view of the elements of its buffer."""
        tensor = self.tensor
        if tensor.strides is None:
            return buffer[: tensor.element_count].reshape(tensor.sizes)
        steps = tuple(stride * buffer.itemsize for stride in tensor.strides)
        return np.lib.stride_tricks.as_strided(buffer, tensor.sizes, steps, writeable=False)

    # ---- mappings

    def form(self, raw: Mapping[str, Any]) -> Array | None:
        if self.unknown_keys((), raw, FORMS, f"the mapping for {self.label}"):
            return None
        if len(raw) != 1:
            found = "an empty mapping" if not raw else f"a mapping with {' and '.join(raw)}"
            params = {"what": self.label, "found": found, "expected": f"a mapping with one of {', '.join(FORMS)}"}
            self.wrong((), "wrong-type", params)
            return None
        ((key, value),) = raw.items()
        readers: dict[str, Callable[[Any], Array | None]] = {
            "fill": self.from_fill,
            "sequence": self.from_sequence,
            "random": self.from_random,
            "file": self.from_file,
            "bits": self.from_bits,
            "buffer": self.from_buffer,
        }
        return readers[key](value)

    def from_fill(self, raw: Any) -> Array | None:
        values = self.literals(None, ("fill",)).array([raw])
        return None if values is None else np.broadcast_to(values, self.tensor.sizes)

    def from_bits(self, raw: Any) -> Array | None:
        if not isinstance(raw, list):
            self.mistyped(("bits",), "bits", raw, "a list of whole numbers")
            return None
        flat = self.flat(raw, ("bits",))
        values = None if flat is None else self.literals(raw, ("bits",)).bit_patterns(flat)
        return None if values is None else self.laid_out(values.reshape(self.tensor.sizes))

    def from_buffer(self, raw: Any) -> Array | None:
        tensor = self.tensor
        if not isinstance(raw, list) or not raw or list in set(map(type, raw)):
            self.mistyped(("buffer",), "buffer", raw, "a flat list of the buffer's elements")
            return None
        least = tensor.extent
        total = max(tensor.total_size or 0, tensor.implied_bytes)
        most = max(least, total * 8 // DATA_TYPES[tensor.data_type].bits)
        label = f"{self.label}'s buffer"
        if not least <= len(raw) <= most:
            takes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
            expected = f"its sizes and strides take {takes}"
            params = {"tensor": label, "found": elements_text(len(raw)), "expected": expected}
            self.wrong(("buffer",), "element-count", params)
            return None
        buffer = TensorDesc(tensor.data_type, (len(raw),))
        values = Literals(label, buffer, raw, (*self.path, "buffer"), self.source, self.findings).array(raw)
        return None if values is None else self.strided(values)

    # ---- generators

    def generated(self) -> tuple[int, Callable[[Array], Array]]:
        """Return how many elements a generator has to make, and what makes the tensor of them."""
        if self.tensor.shares_places:
            return self.tensor.extent, self.strided
        kept = _distinct_sizes(self.tensor)
        return math.prod(kept), lambda values: np.broadcast_to(values.reshape(kept), self.tensor.sizes)

    def from_sequence(self, raw: Any) -> Array | None:
        settings = self.settings("sequence", raw, {"start": 0, "step": 1})
        if settings is None:
            return None
        count, finish = self.generated()
        start, step = settings["start"], settings["step"]
        last = start + (count - 1) * step
        if not self.fits("sequence", "start", start) or not self.fits("sequence", "step", last):
            return None
        return finish(generators.sequence(self.tensor.data_type, count, start, step))

    def from_random(self, raw: Any) -> Array | None:
        settings = self.settings("random", raw, {"seed": None, "low": 0, "high": 1})
        if settings is None:
            return None
        seed, low, high = settings["seed"], settings["low"], settings["high"]
        if type(seed) is not int:
            self.mistyped(("random", "seed"), "random.seed", seed, "a whole number")
            return None
        if low > high:
            self.mistyped(("random", "high"), "random.high", high, f"at least low, {low}")
            return None
        if not self.fits("random", "low", low) or not self.fits("random", "high", high):
            return None
        count, finish = self.generated()
        return finish(generators.random(self.tensor.data_type, count, seed, low, high))

    def settings(self, form: str, raw: Any, defaults: dict[str, Any]) -> dict[str, Any] | None:
        """Return the numbers of a generator, exactly as written, defaults filled in; the whole ones as int."""
        if not isinstance(raw, Mapping):
            self.mistyped((form,), form, raw, f"a mapping with {', '.join(defaults)}")
            return None
        wrong = self.unknown_keys((form,), raw, defaults, form)
        settings = {}
        for key, default in defaults.items():
            value = raw.get(key, default)
            if value is None:
                self.wrong((form, key), "missing-key", {"where": form, "key": key})
                wrong = True
            elif type(value) is float and math.isfinite(value):
                exact = self.source.as_written((*self.path, form, key), value)
                value = int(exact) if exact.denominator == 1 else exact
            elif type(value) is not int:
                self.mistyped((form, key), f"{form}.{key}", value, "a finite number")
                wrong = True
            settings[key] = value
        return None if wrong else settings

    def fits(self, form: str, key: str, value: Any) -> bool:
        """Whether the data type can hold a generator's extreme value."""
        data_type = self.tensor.data_type
        if data_type in FORMATS:
            if math.isfinite(round_exact(Fraction(value), data_type)):
                return True
        else:
            low, high = integer_range(data_type)
            if type(value) is int and low <= value <= high:
                return True
        found = describe(value) if type(value) is int else _figure(value)
        params = {"element": f"a value of {self.label}", "found": found, "type": data_type}
        self.wrong((form, key), "value-not-representable", params)
        return False

    # ---- files

    def from_file(self, raw: Any) -> Array | None:
        if not isinstance(raw, str) or not raw:
            self.mistyped(("file",), "file", raw, "the path of a .npy file")
            return None
        full, problem = npy.find(self.source.folder, raw)
        if problem is None:
            try:
                with open(full, "rb") as file:
                    header = npy.Header(file)
                    if not self.agrees(header.shape, header.dtype, raw, ("file",)):
                        return None
                    return self.stored(npy.read_elements(file, header), raw, ("file",))
            except OSError as error:
                problem = error.strerror or str(error)
            except ValueError as error:
                params = {"what": raw, "found": f"unreadable: {error}", "expected": "an array as numpy.save writes it"}
                self.wrong(("file",), "wrong-type", params)
                return None
        self.wrong(("file",), "file-not-found", {"path": raw, "problem": problem})
        return None

    def from_array(self, raw: Array) -> Array | None:
        """Return a caller's array, rounded once where it is of another data type."""
        tensor = self.tensor
        if raw.dtype.newbyteorder("=") == NUMPY_TYPES[tensor.data_type] and raw.shape == tensor.sizes:
            return self.stored(raw.astype(NUMPY_TYPES[tensor.data_type], copy=False), "the array", ())
        if raw.dtype.kind not in "iuf" or raw.shape not in (tensor.sizes, (tensor.element_count,)):
            self.agrees(raw.shape, raw.dtype, "the array", ())
            return None
        flat: list[Any] = raw.reshape(-1).tolist()
        values = self.literals(flat).array(flat)
        return None if values is None else self.laid_out(values.reshape(tensor.sizes))

    def stored(self, values: Array, what: str, steps: Path) -> Array | None:
        """Return an array of the tensor's sizes and NumPy type, in its layout; 4-bit types hold less than that type."""
        if DATA_TYPES[self.tensor.data_type].bits < 8:  # else the array's own type says it
            low, high = integer_range(self.tensor.data_type)
            beyond = values[(values < low) | (values > high)]
            if beyond.size:
                params = {"element": f"an element of {what}", "found": str(beyond[0]), "type": self.tensor.data_type}
                self.wrong(steps, "value-not-representable", params, f"{self.tensor.data_type} holds {low} to {high}")
                return None
        return self.laid_out(values)

    def agrees(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str, steps: Path) -> bool:
        """Whether an array has the tensor's data type and sizes."""
        wanted = NUMPY_TYPES[self.tensor.data_type]
        if dtype.newbyteorder("=") != wanted:
            params = {"element": what, "found": f"an array of {dtype}", "type": self.tensor.data_type}
            self.wrong(steps, "value-not-representable", params, f"save it as {wanted}")
            return False
        if tuple(shape) != self.tensor.sizes:
            self.miscounted(f"the shape {_braces(tuple(shape))} in {what}", steps)
            return False
        return True


def _figure(value: Fraction) -> str:
    """Return a rational number as text, whatever its magnitude."""
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "a number beyond FLOAT64"


def _braces(sizes: tuple[int, ...]) -> str:
    return "{" + ", ".join(map(str, sizes)) + "}"


def _shape_text(raw: list[Any]) -> str:
    """Say what shape nested lists have, or that they have none."""
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
        return elements_text(shape[0])
    return f"the shape {_braces(tuple(shape))}"


# ---- text


def values_text(values: Array, data_type: str) -> Iterator[str]:
    """Yield an array as a nested YAML flow list, piece by piece, each element as the shortest text that reads back."""
    if values.ndim <= 1:
        yield "[" + ", ".join(spell(element, data_type) for element in values.reshape(-1).tolist()) + "]"
        return
    yield "["
    for index, part in enumerate(values):
        if index:
            yield ", "
        yield from values_text(part, data_type)
    yield "]"
