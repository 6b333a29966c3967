"""The inputs of a model: given in a file or a folder, or random ones that the model can take."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import braces, did_you_mean, size_text
from dmlcheck.files import npy
from dmlcheck.files.npy import names_in, read_array
from dmlcheck.files.plain import open_plain, reason
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.model.file import NO_NAMES, place_of
from dmlcheck.onnx.model.inference import Context, outputs_of
from dmlcheck.onnx.model.input_uses import Use, uses_of
from dmlcheck.onnx.model.named_sizes import names_of_size, options_of, size_of
from dmlcheck.onnx.model.values import Value, constant_value, initial
from dmlcheck.onnx.reading import Unreadable, constant, element_type, first_line, tensor_in, tensor_of
from dmlcheck.values.memory import available_bytes

_MOST_WHOLE = 100  # random whole numbers that index nothing are below this
_DRAWN = 8  # bytes of a random number, before it has its type
_PAST = "past"  # part of the names of sizes that count earlier runs' steps, which may be 0


class Input(NamedTuple):
    """An input of a model: name, element type in ONNX's words, and sizes; symbolic ones by name or one of NO_NAMES."""

    name: str
    kind: str
    sizes: tuple[int | str, ...]
    dtype: Any = None


class ModelInputs(NamedTuple):
    """The inputs of a model by name, or the diagnostics of them; `any_numbers` are whole numbers of no known use."""

    arrays: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    any_numbers: frozenset[str] = frozenset()


def model_inputs(model: Any) -> list[Input]:
    """Return the inputs of a model."""
    from onnx import helper

    found = []
    for value in model.graph.input:
        tensor = value.type.tensor_type
        is_tensor = value.type.WhichOneof("value") == "tensor_type" and tensor.elem_type
        kind = element_type(tensor.elem_type) if is_tensor else (value.type.WhichOneof("value") or "of no type")
        sizes = [
            int(dim.dim_value) if dim.HasField("dim_value") and dim.dim_value >= 0 else str(dim.dim_param)
            for dim in tensor.shape.dim
        ]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type) if is_tensor and kind != "STRING" else None
        found.append(Input(value.name, kind, tuple(sizes), dtype))
    return found


def given_inputs(model: Any, place: str) -> ModelInputs:
    """Return the arrays of a file or a folder, or the findings about their names, types and sizes."""
    wanted = model_inputs(model)
    try:
        arrays = _of_folder(place, wanted) if os.path.isdir(place) else _of_file(place)
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        problem = reason(error) if isinstance(error, OSError) else str(error) or type(error).__name__
        return ModelInputs({}, (Finding("file-not-found", (), {"path": place, "problem": problem}),))
    except (Unreadable, Unmapped) as error:
        return ModelInputs({}, (Finding("file-not-found", (), {"path": place, "problem": first_line(error)}),))
    findings = [*_misnamed(wanted, arrays, place), *_misfits(wanted, arrays)]
    return ModelInputs({one.name: arrays[one.name] for one in wanted if one.name in arrays}, tuple(findings))


def _of_file(place: str) -> dict[str, Any]:
    return {name: read_array(place, name) for name in names_in(place)}


def _of_folder(place: str, wanted: list[Input]) -> dict[str, Any]:
    """Return the arrays of NAME.npy, or of input_0.pb and so on in the order of the model's inputs."""
    arrays = {}
    for number, one in enumerate(wanted):
        full, problem = npy.find(place, f"{one.name}.npy")
        if problem is None:
            with open_plain(full) as file:
                arrays[one.name] = npy.read_elements(file, npy.Header(file))
            continue
        path = os.path.join(place, f"input_{number}.pb")
        if os.path.isfile(path):
            values = tensor_in(path).values
            if values is not None:
                arrays[one.name] = values
    return arrays


def _misnamed(wanted: list[Input], arrays: Mapping[str, Any], place: str) -> Iterator[Finding]:
    names = [one.name for one in wanted]
    for name in names:
        if name not in arrays:
            help = f"add an array {name!r} to {place}, or the file {name}.npy to the folder"
            params = {"tensor": f"the input {name!r} of the model", "section": "--inputs"}
            yield Finding("missing-tensor", (), params, help)
    for name in arrays:
        if name not in names:
            meant = did_you_mean(name, names) or f"the inputs are {', '.join(names)}"
            params = {"section": "--inputs", "tensor": repr(name), "problem": "which is no input of the model"}
            yield Finding("unexpected-tensor", (), params, meant)


def _misfits(wanted: list[Input], arrays: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the findings about types and sizes; sizes of one name are the same in all inputs."""
    named: dict[str, tuple[int, str]] = {}
    for one in wanted:
        array = arrays.get(one.name)
        if array is None:
            continue
        if one.dtype is None or array.dtype != one.dtype:
            params = {"element": one.name, "found": f"an array of {array.dtype}", "type": one.kind}
            yield Finding("value-not-representable", (), params, one.dtype and f"give {one.dtype} for {one.kind}")
        fits = len(array.shape) == len(one.sizes)
        for size, asked in zip(array.shape, one.sizes, strict=False):
            if isinstance(asked, int):
                fits = fits and size == asked
            elif asked not in NO_NAMES:
                known, of = named.setdefault(asked, (size, one.name))
                if known != size:
                    found, expected = f"the size {size} for {asked}", f"{of} has {known}"
                    yield Finding("element-count", (), {"tensor": one.name, "found": found, "expected": expected})
        if not fits:
            expected = f"the model has {braces(asked or '?' for asked in one.sizes)}"  # type: ignore[misc]
            found = f"an array {braces(array.shape)}"
            yield Finding("element-count", (), {"tensor": one.name, "found": found, "expected": expected})


# ---- random inputs


def random_inputs(model: Any, weights: Mapping[str, Any], sizes: Mapping[str, int], seed: int) -> ModelInputs:
    """Return inputs that are random and the same for a seed; indices are inside their range, and masks hide nothing.

    `weights` are the model's as onnx.TensorProto; `sizes` are the sizes for symbolic dimensions by name. A size that
    stays unknown, or a type without random values, is a finding.
    """
    wanted = model_inputs(model)
    findings = list(_unusable(wanted, sizes))
    if findings:
        return ModelInputs({}, tuple(findings))
    shapes = {one.name: tuple(_size(size, sizes) or 0 for size in one.sizes) for one in wanted}
    large = _too_large(wanted, shapes)
    if large is not None:
        return ModelInputs({}, (large,))
    declared = {value.name: own for value in model.graph.output if (own := _declared(value))}
    known = {**declared, **{tensor.name: tuple(tensor.dims) for tensor in weights.values()}, **shapes}
    uses = uses_of(model, InnerSizes(model, weights, known), _low(model, weights))
    rng = np.random.default_rng(seed)
    arrays = {one.name: _random(one, shapes[one.name], uses[one.name], rng) for one in wanted}
    lengths = {one.name: uses[one.name] for one in wanted if uses[one.name].length}
    for name, use in lengths.items():
        arrays[name][...] = _length(use, shapes, arrays, uses)
    is_whole = {name for name, array in arrays.items() if array.dtype.kind in "iu" and array.size}
    is_any = frozenset(name for name in is_whole if uses[name] == Use() or uses[name].is_part)
    return ModelInputs(arrays, any_numbers=is_any)


def of_any_numbers(names: Sequence[str]) -> str:
    """Return the help for a node that does not take numbers that follow from inputs of random whole numbers."""
    verb = "holds" if len(names) == 1 else "hold"
    return f"{', '.join(names)} {verb} random whole numbers, which the model may not take: give others with --inputs"


def contradiction(sizes: Mapping[str, int]) -> str | None:
    """Return the words about sizes that contradict each other: a total that is not past and new steps; else None."""
    for name, total in sizes.items():
        past, new = name.replace("total", _PAST), name.replace("total_", "")
        if name in (past, new) or new not in sizes or sizes.get(past, 0) + sizes[new] == total:
            continue
        return (
            f"the sizes given with --dim contradict each other: {name} is {total}, and {past} and {new} are"
            f" {sizes.get(past, 0) + sizes[new]} together"
        )
    return None


def _unusable(wanted: list[Input], sizes: Mapping[str, int]) -> Iterator[Finding]:
    unknown_sizes = dict.fromkeys(
        name
        for one in wanted
        for axis, size in enumerate(one.sizes)
        if isinstance(size, str) and _size(size, sizes) is None
        for name in ([place_of(one.name, axis)] if size in NO_NAMES else names_of_size(size, sizes))
        if _size(name, sizes) is None
    )
    if unknown_sizes:
        problem = f"the model's inputs have sizes without a number: {', '.join(unknown_sizes)}"
        help = f"run with {' '.join(options_of(unknown_sizes))}"
        if any(":" in name for name in unknown_sizes):
            help = f"{help}, or give arrays with --inputs FILE.npz"
        yield Finding("unknown-sizes", (), {"problem": problem}, help)
    for one in wanted:
        if one.dtype is None:
            problem = f"the input {one.name} is {one.kind}, which has no random values"
            yield Finding("not-mapped", (), {"problem": problem}, help="give its values with --inputs FILE.npz")


def _too_large(wanted: list[Input], shapes: Mapping[str, tuple[int, ...]]) -> Finding | None:
    """Return the finding for inputs that do not fit into the memory of this machine, or None; nothing is allocated."""
    needs = {one.name: math.prod(shapes[one.name]) * (_DRAWN + one.dtype.itemsize) for one in wanted}
    need, have = sum(needs.values()), available_bytes()
    if have is None or need <= have:
        return None
    largest = max(needs, key=lambda name: needs[name])
    params = {"need": f"take {size_text(need)}", "have": size_text(have)}
    tensors = f"the model's inputs, {largest} {braces(shapes[largest])} the largest,"
    has_names = any(isinstance(size, str) for one in wanted for size in one.sizes)
    help = "give smaller sizes with --dim NAME=SIZE" if has_names else None
    return Finding("tensor-too-large", (), {"tensors": tensors, **params}, help)


def _size(size: int | str, sizes: Mapping[str, int]) -> int | None:
    """Return a size, that of a name or of what is computed from names, or None; the number of earlier steps is 0."""
    return size if isinstance(size, int) else size_of(size, lambda name: sizes.get(name, _no_past(name)))


def _no_past(name: str) -> int | None:
    return 0 if _PAST in name.lower() and names_of_size(name) == [name] else None


def _declared(value: Any) -> tuple[int, ...]:
    """Return the sizes that a model declares for a tensor, none unless all are known."""
    sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    return tuple(map(int, sizes)) if all(sizes) else ()


def _low(model: Any, weights: Mapping[str, Any]) -> set[str]:
    """Return the single numbers of a model that are below all scores: a softmax gives what has them no share."""
    given = [(name, tensor) for name, tensor in weights.items() if math.prod(tensor.dims) == 1]
    given += [
        (node.output[0], tensor)
        for node in model.graph.node
        if node.op_type == "Constant" and (tensor := tensor_of(node)) is not None and math.prod(tensor.dims) == 1
    ]
    return {name for name, tensor in given if _is_low(tensor, name)}


def _is_low(tensor: Any, name: str) -> bool:
    try:
        values = constant(tensor, name).values
    except Unmapped:
        return False
    return values is not None and values.dtype.kind == "f" and bool((values <= _LOW).all())


_LOW = -1000.0


def _random(one: Input, shape: tuple[int, ...], use: Use, rng: np.random.Generator) -> Any:
    if use.related is not None:
        return np.array(use.related(shape)).reshape(shape).astype(one.dtype)
    if one.dtype.kind in "iu":
        return _whole(one, shape, use, rng).astype(one.dtype)
    if one.dtype.kind == "b":
        return np.full(shape, not use.hides) if use.is_mask else rng.integers(0, 2, shape).astype(bool)
    if use.floats is not None:
        return rng.uniform(*use.floats, shape).astype(one.dtype)
    return rng.standard_normal(shape).astype(one.dtype)


def _whole(one: Input, shape: tuple[int, ...], use: Use, rng: np.random.Generator) -> Any:
    if use.most is not None:
        return rng.integers(use.least, max(use.least + 1, use.most), shape)
    if use.is_mask:
        return np.full(shape, 0 if use.hides else 1)
    limits = np.iinfo(one.dtype)
    low, high = (limits.min, limits.max + 1) if one.dtype.itemsize == 1 else (0, _MOST_WHOLE)
    return rng.integers(low, high, shape)


def _length(use: Use, shapes: Mapping[str, Any], arrays: Mapping[str, Any], uses: Mapping[str, Use]) -> int:
    """Return a length of attention: earlier steps, and the tokens of this one.

    The tokens are counted in the keys, where they are an input of the model, else in the ids or their embeddings.
    """
    past = shapes.get(use.past, ())
    ids = [array.shape for name, array in arrays.items() if uses[name].most is not None and array.ndim == 2]
    floats = [array.shape for array in arrays.values() if array.dtype.kind == "f" and array.ndim == 3]
    own = [shapes[name] for name in use.new if len(shapes.get(name, ())) == 3]
    tokens = next((shape[1] for shape in (*own, *ids, *floats)), 1)
    total = (past[2] if len(past) == 4 else 0) + tokens
    return int(total - (use.length == "last"))


# ---- the sizes of tensors: those that are given, and those that follow where another one is asked for


class InnerSizes(Mapping[str, Sequence[int]]):
    """The known sizes of tensors by name; nodes are only followed once a size is asked for that is not given."""

    def __init__(self, model: Any, weights: Mapping[str, Any], given: Mapping[str, Sequence[int]]) -> None:
        """Take a model without its weights, these as onnx.TensorProto, and the sizes of inputs and other tensors."""
        self._model = model
        self._weights = weights
        self._known = dict(given)
        self._is_followed = False

    def __getitem__(self, name: str) -> Sequence[int]:
        """Return the sizes of a tensor; KeyError if they are not known."""
        if name not in self._known and not self._is_followed:
            self._is_followed = True
            self._known = {**_followed(self._model, self._weights, self._known), **self._known}
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the tensors of known sizes."""
        return iter(self._known)

    def __len__(self) -> int:
        """Return how many tensors have known sizes."""
        return len(self._known)


def _followed(model: Any, weights: Mapping[str, Any], given: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    """Return the sizes of the tensors outside of inner graphs that follow from the given ones."""
    opsets = {entry.domain: int(entry.version) for entry in model.opset_import}
    declared = {value.name: value.type for value in (*model.graph.value_info, *model.graph.output)}
    of = Context(opsets, declared, model.ir_version)
    scope = {"": Value(None), **{name: initial(tensor) for name, tensor in weights.items()}}
    scope.update((value.name, _of_input(value, given.get(value.name))) for value in model.graph.input)
    for node in model.graph.node:
        value = constant_value(node)
        if value is not None:
            scope[node.output[0]] = value
            continue
        try:
            made = outputs_of(node, of, [scope.get(name, _UNKNOWN) for name in node.input])
        except Unmapped:
            made = [Value(declared.get(name)) for name in node.output]
        scope.update(zip(node.output, made, strict=True))
    return {name: value.known for name, value in scope.items() if value.known is not None}


_UNKNOWN = Value(None)


def _of_input(value: Any, sizes: Sequence[int] | None) -> Value:
    """Return an input, of the sizes that are given for it."""
    from onnx import helper

    kind = value.type.tensor_type.elem_type
    return Value(value.type if sizes is None or not kind else helper.make_tensor_type_proto(kind, list(sizes)))
