"""The engine: how a kernel gets its desc, what becomes of its pieces, in any number of threads, and of its bounds."""

from __future__ import annotations

import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from grouped import built

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.blocks import Blocks
from dmlcheck.reference.numbers import Tracked
from dmlcheck.reference.pieces import InDoubt, Kernel, Open, Piece, elementwise, exact
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values import memory

Array = np.ndarray[Any, Any]
Install = Callable[[str, Any], None]
INF, NAN = float("inf"), float("nan")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return what makes a row the kernel of an operator, whether or not it has one."""
    rows: dict[str, Kernel] = {}

    def imported(name: str) -> Any:
        own = {} if name.endswith(".None") else import_module(name).KERNELS
        return SimpleNamespace(KERNELS={**own, **rows})

    def add(operator: str, row: Kernel) -> None:
        rows[operator] = row
        engine.row.cache_clear()

    monkeypatch.setattr(engine, "import_module", imported)
    engine.row.cache_clear()
    yield add
    engine.row.cache_clear()


def described(operator: str, **fields: Any) -> OperatorDesc:
    """Return a desc; a tensor is given as its data type and sizes."""

    def tensor(value: Any) -> Any:
        if isinstance(value, tuple):
            return {"DataType": value[0], "Sizes": list(value[1:])}
        return [tensor(part) for part in value] if isinstance(value, list) else value

    given = {name: tensor(value) for name, value in fields.items()}
    desc, problems = validation.validate(f"DML_OPERATOR_{operator}", given, NEWEST_LEVEL)
    assert desc is not None
    assert not problems, problems
    return desc


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


TOP_K: dict[str, Any] = {
    "InputTensor": ("FLOAT32", 2, 3),
    "OutputValueTensor": ("FLOAT32", 2, 2),
    "OutputIndexTensor": ("UINT32", 2, 2),
    "Axis": 1,
    "K": 2,
}
MAX_POOLING: dict[str, Any] = {
    "InputTensor": ("FLOAT32", 1, 1, 2, 2),
    "OutputTensor": ("FLOAT32", 1, 1, 2, 2),
    "Strides": [1, 1],
    "WindowSize": [1, 1],
    "StartPadding": [0, 0],
    "EndPadding": [0, 0],
    "Dilations": [1, 1],
}
GEMM: dict[str, Any] = {
    "ATensor": ("FLOAT32", 1, 1, 2, 2),
    "BTensor": ("FLOAT32", 1, 1, 2, 2),
    "OutputTensor": ("FLOAT32", 1, 1, 2, 2),
    "TransA": "NONE",
    "TransB": "TRANSPOSE",
    "Alpha": 0.1,
    "Beta": 1,
}


# ---- a desc and its kernel


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("InputTensor", "input"),
        ("ATensor", "a"),
        ("OutputIndicesTensor", "output_indices"),
        ("InputTensors", "inputs"),
        ("OutputTensors[1]", "outputs[1]"),
        ("Axes", "axes"),
        ("KernelCornerROI", "kernel_corner_roi"),
        ("TransA", "trans_a"),
    ],
)
def test_a_parameter_is_named_like_its_field(field: str, name: str) -> None:
    assert engine.parameter(field) == name


def test_a_kernel_gets_the_fields_that_its_parameters_name(install: Install) -> None:
    seen: list[Any] = []

    def gemm(a: Any, c: Any, *, trans_b: str, alpha: float, fused_activation: Any, output: Any) -> Iterator[Piece]:
        seen.extend([c, trans_b, alpha, output.sizes])
        yield Piece((), lambda x: fused_activation(x * alpha), (a,))

    install("GEMM", Kernel(gemm))
    a = floats(1, -2, 3, -4).reshape(1, 1, 2, 2)
    found = engine.evaluate(described("GEMM", **GEMM), {"ATensor": a, "BTensor": a})["OutputTensor"].values
    tenth = float(np.float32(0.1))
    assert seen == [None, "TRANSPOSE", tenth, (1, 1, 2, 2)]
    assert found.tolist() == (a * np.float32(0.1)).tolist()
    relu = {"FusedActivation": {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.5}}
    found = engine.evaluate(described("GEMM", **GEMM, **relu), {"ATensor": a, "BTensor": a})["OutputTensor"].values
    assert found.reshape(-1).tolist() == floats(tenth, -tenth, 3 * tenth, -2 * tenth).tolist()


@pytest.mark.parametrize("outputs", [["OutputSingleTensor"], [], ["OutputSequenceTensor", "OutputSingleTensor"]])
def test_an_array_of_operators_comes_as_functions_whatever_outputs_there_are(
    install: Install, outputs: list[str]
) -> None:
    def rnn(input: Any, *, activation_descs: Any) -> Iterator[Piece]:
        first, second = activation_descs
        where = dict.fromkeys(("output_single", "output_sequence"), (0, slice(0, 1)))
        yield Piece(where, lambda x: dict.fromkeys(where, second(first(x))), (input,))

    install("RNN", Kernel(rnn))
    sizes = {"OutputSingleTensor": (1, 2, 1, 1), "OutputSequenceTensor": (1, 2, 1, 1)}
    relu = {"Type": "ACTIVATION_LINEAR", "Alpha": 2, "Beta": 3}
    desc = described(
        "RNN",
        InputTensor=("FLOAT16", 1, 1, 1, 1),
        WeightTensor=("FLOAT16", 1, 2, 1, 1),
        RecurrenceTensor=("FLOAT16", 1, 2, 1, 1),
        ActivationDescs=[relu, {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.5}],
        Direction="BIDIRECTIONAL",
        **{name: ("FLOAT16", *sizes[name]) for name in outputs},
    )
    found = engine.evaluate(desc, {"InputTensor": np.full((1, 1, 1, 1), -4, np.float16)})
    assert {name: part.values[0, 0, 0, 0].item() for name, part in found.items()} == dict.fromkeys(outputs, -2.5)


def test_a_nested_operator_has_its_scale_and_bias(install: Install) -> None:
    def add1(a: Any, *, fused_activation: Any) -> Any:
        return fused_activation(a)

    install("GEMM", elementwise(add1))
    clip = {"Type": "ELEMENT_WISE_CLIP", "ScaleBias": {"Scale": 0.1, "Bias": 3}, "Min": 0, "Max": 3.3}
    desc = described("GEMM", **{**GEMM, "FusedActivation": clip})
    x = floats(1, 2, 300, -300).reshape(1, 1, 2, 2)
    found = engine.evaluate(desc, {"ATensor": x, "BTensor": x})["OutputTensor"].values
    assert found.reshape(-1).tolist() == floats(3.1, 3.2, 3.3, 0).tolist()
    asked = {"OutputTensor": np.ones(x.shape, bool)}
    given = gathered(desc, {"ATensor": x, "BTensor": x}, asked)["OutputTensor"]
    assert (given.slack[:2] > 0).all()
    assert (given.slack < 1e-6).all()


def test_integer_tensors_may_have_a_function_of_their_own(install: Install) -> None:
    row = elementwise(lambda input: input + 0.5, integers=lambda input: input // 2)
    install("ELEMENT_WISE_IDENTITY", row)
    for data_type, expected in (("FLOAT32", [1.5, 7.5]), ("INT8", [0, 3]), ("UINT64", [0, 3])):
        desc = described("ELEMENT_WISE_IDENTITY", InputTensor=(data_type, 2), OutputTensor=(data_type, 2))
        x = np.array([1, 7], data_type.lower())
        assert engine.evaluate(desc, {"InputTensor": x})["OutputTensor"].values.tolist() == expected


def test_arrays_of_tensors_come_as_lists(install: Install) -> None:
    def join(inputs: Any, *, axis: int) -> Iterator[Piece]:
        yield Piece((slice(0, 2),), np.positive, (inputs[0],))
        yield Piece((slice(2, 5),), np.negative, (inputs[1],))
        assert axis == 0

    install("JOIN", Kernel(join))
    desc = described("JOIN", InputTensors=[("INT32", 2), ("INT32", 3)], OutputTensor=("INT32", 5), Axis=0)
    parts = [np.array([1, 2], np.int32), np.array([3, 4, 5], np.int32)]
    assert engine.evaluate(desc, {"InputTensors": parts})["OutputTensor"].values.tolist() == [1, 2, -3, -4, -5]


def test_an_array_of_integer_tensors_has_the_formula_for_integers(install: Install) -> None:
    def join(inputs: Any, *, change: Callable[[Any], Any]) -> Iterator[Piece]:
        yield Piece((), lambda *x: change(np.concatenate(x)), tuple(inputs))

    floats, integers = partial(join, change=np.positive), partial(join, change=np.negative)
    install("JOIN", Kernel(floats, integers=integers))
    for data_type, expected in (("FLOAT32", [1, 2]), ("INT32", [-1, -2])):
        desc = described("JOIN", InputTensors=[(data_type, 1)] * 2, OutputTensor=(data_type, 2), Axis=0)
        parts = [np.array([number], data_type.lower()) for number in (1, 2)]
        assert engine.evaluate(desc, {"InputTensors": parts})["OutputTensor"].values.tolist() == expected


# ---- pieces


def test_operands_are_widened_unless_the_formula_rounds_nothing(install: Install) -> None:
    seen: list[Any] = []

    def note(input: Any) -> Any:
        seen.append(input.dtype)
        return input

    for data_type, wide in (("FLOAT16", "float64"), ("INT8", "int64"), ("UINT32", "uint64")):
        desc = described("ELEMENT_WISE_IDENTITY", InputTensor=(data_type, 2), OutputTensor=(data_type, 2))
        for row in (elementwise(note), exact(note)):
            install("ELEMENT_WISE_IDENTITY", row)
            engine.evaluate(desc, {"InputTensor": np.ones(2, data_type.lower())})
        assert seen[-2:] == [np.dtype(wide), np.dtype(data_type.lower())]


def test_several_outputs_fill_up_by_name_and_keep_what_is_left_open_apart(install: Install) -> None:
    def top_k(input: Any, *, k: int) -> Iterator[Piece]:
        def row(x: Any) -> Any:
            order = np.argsort(-x, kind="stable")[..., :k]
            values = np.take_along_axis(x, order, -1)
            return {"output_value": values, "output_index": Open(order, values == 5)}

        for n in range(len(input)):
            yield Piece({"output_value": n, "output_index": n}, row, (input[n],))

    install("TOP_K", Kernel(top_k))
    desc = described("TOP_K", **TOP_K)
    x = floats(3, 5, 4, 1, 2, 0).reshape(2, 3)
    found = engine.evaluate(desc, {"InputTensor": x})
    assert found["OutputValueTensor"].values.tolist() == [[5, 4], [2, 1]]
    assert found["OutputValueTensor"].unspecified is None
    assert found["OutputIndexTensor"].values.tolist() == [[1, 2], [1, 0]]
    assert found["OutputIndexTensor"].values.dtype == np.uint32
    assert found["OutputIndexTensor"].unspecified.tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("has_indices", [False, True])
def test_what_a_kernel_says_of_an_output_that_the_desc_leaves_out_is_dropped(
    install: Install, has_indices: bool
) -> None:
    def max_pooling2(input: Any) -> Iterator[Piece]:
        where = dict.fromkeys(("output", "output_indices"), ())
        yield Piece(where, lambda x: {"output": x, "output_indices": np.arange(4)}, (input,))

    install("MAX_POOLING2", Kernel(max_pooling2))
    extra = {"OutputIndicesTensor": ("UINT64", 1, 1, 2, 2)} if has_indices else {}
    x = floats(1, 2, 3, 4).reshape(1, 1, 2, 2)
    found = engine.evaluate(described("MAX_POOLING2", **MAX_POOLING, **extra), {"InputTensor": x})
    assert found["OutputTensor"].values.tolist() == x.tolist()
    assert set(found) == {"OutputTensor", "OutputIndicesTensor"} if has_indices else {"OutputTensor"}


def test_marks_add_up(install: Install) -> None:
    install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: Open(Open(input, input == 1), input == 2)))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 3), OutputTensor=("FLOAT32", 3))
    result = engine.evaluate(desc, {"InputTensor": floats(1, 2, 3)})["OutputTensor"]
    assert result.values.tolist() == [1, 2, 3]
    assert result.unspecified.tolist() == [True, True, False]


def test_only_results_whose_error_may_show_are_computed_exactly(install: Install) -> None:
    asked: list[int] = []

    def settle(at: Array) -> Array:
        asked.extend(at.tolist())
        return np.full(at.size, 7.0)

    half = 1 + 2.0**-24  # halfway between two FLOAT32
    values, errors = np.array([1, half, half, half, INF, NAN]), np.array([2.0**-30, 2.0**-60, 2.0**-50, 0, INF, NAN])
    install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: InDoubt(values + 0 * input, errors, settle)))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 6), OutputTensor=("FLOAT32", 6))
    found = engine.evaluate(desc, {"InputTensor": np.zeros(6, np.float32)})["OutputTensor"].values
    assert found.tolist()[:5] == [1, 1, 7, 1, INF]
    assert np.isnan(found[5])
    assert asked == [2]


def test_results_in_blocks_are_rounded_block_by_block(install: Install) -> None:
    def blocks(input: Any) -> Iterator[Piece]:
        cuts = [(slice(k, k + 2),) for k in (0, 2, 4)]
        yield Piece((), lambda x: Open(x * 3, x == 4), (Blocks(input.shape, cuts, input.__getitem__),))

    install("ELEMENT_WISE_IDENTITY", Kernel(blocks))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 5), OutputTensor=("FLOAT32", 5))
    inputs = {"InputTensor": floats(1, 2, 3, 4, 5)}
    result = engine.evaluate(desc, inputs)["OutputTensor"]
    assert result.values.tolist() == [3, 6, 9, 12, 15]
    assert result.unspecified.tolist() == [False, False, False, True, False]
    bound = gathered(desc, inputs, {"OutputTensor": np.array([0, 1, 0, 1, 0], bool)})["OutputTensor"]
    assert bound.value.tolist() == [6, 12]
    assert bound.unspecified.tolist() == [False, True]


def test_integers_wrap_or_are_left_open_as_the_row_says(install: Install) -> None:
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("INT8", 3), OutputTensor=("INT8", 3))
    wide = described("ELEMENT_WISE_IDENTITY", InputTensor=("INT32", 3), OutputTensor=("INT32", 3))
    for overflow, narrow_open, wide_open in (
        ("", None, None),
        ("narrow", [0, 1, 1], None),
        ("all", [0, 1, 1], [0, 0, 1]),
    ):
        install("ELEMENT_WISE_IDENTITY", elementwise(lambda input: input * 2, overflow=overflow))
        found = engine.evaluate(desc, {"InputTensor": np.array([1, 100, -100], np.int8)})["OutputTensor"]
        assert found.values.tolist() == [2, -56, 56]
        assert (None if found.unspecified is None else found.unspecified.tolist()) == narrow_open
        found = engine.evaluate(wide, {"InputTensor": np.array([1, 100, 2**30], np.int32)})["OutputTensor"]
        assert found.values.tolist() == [2, 200, -(2**31)]
        assert (None if found.unspecified is None else found.unspecified.tolist()) == wide_open


# ---- bounds


def test_a_bound_runs_only_the_pieces_that_are_asked_for_and_keeps_their_order(install: Install) -> None:
    ran: list[int] = []

    def rows(input: Any) -> Iterator[Piece]:
        def formula(n: int, x: Any) -> Any:
            ran.append(n)
            return Open(x * 3, x == 7)

        for n in (2, 0, 1):
            yield Piece(n, partial(formula, n), (input[n],))

    install("ELEMENT_WISE_IDENTITY", Kernel(rows))
    desc = described("ELEMENT_WISE_IDENTITY", InputTensor=("FLOAT32", 3, 3), OutputTensor=("FLOAT32", 3, 3))
    x = floats(0.1, 2, 3, 4, 5, 6, 7, 8, 0.3).reshape(3, 3)
    asked = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 1]], bool)
    found = gathered(desc, {"InputTensor": x}, {"OutputTensor": np.asfortranarray(asked)})["OutputTensor"]
    assert ran == [2, 0]
    assert found.value.tolist() == [3 * float(value) for value in x[asked]]
    assert found.unspecified.tolist() == [False, False, True, False]
    assert (found.slack <= 2.0**-24 * np.abs(found.value)).all()
    assert found.slack.any()


def test_several_outputs_have_bounds_of_their_own(install: Install) -> None:
    def top_k(input: Any) -> Iterator[Piece]:
        def formula(x: Any) -> Any:
            assert isinstance(x, Tracked)
            return {"output_value": x[:, :2] / 3, "output_index": np.arange(4).reshape(2, 2)}

        yield Piece({"output_value": (), "output_index": ()}, formula, (input,))

    install("TOP_K", Kernel(top_k))
    x = floats(3, 6, 0, 1, 9, 0).reshape(2, 3)
    masks = {
        "OutputValueTensor": np.array([[0, 1], [1, 0]], bool),
        "OutputIndexTensor": np.array([[0, 0], [0, 1]], bool),
    }
    found = gathered(described("TOP_K", **TOP_K), {"InputTensor": x}, masks)
    assert found["OutputValueTensor"].value.tolist() == [2, 1 / 3]
    assert found["OutputValueTensor"].slack[1] > 0
    assert found["OutputIndexTensor"].value.tolist() == [3]
    assert found["OutputIndexTensor"].slack.tolist() == [0]


@pytest.mark.parametrize(("data_type", "is_tracked"), [("FLOAT16", True), ("FLOAT32", False)])
def test_a_float_attribute_may_be_rounded_where_a_tensor_is_float16(
    install: Install, data_type: str, is_tracked: bool
) -> None:
    seen: list[Any] = []

    def linear(input: Any, *, alpha: Any) -> Any:
        seen.append(alpha)
        return input * alpha

    install("ACTIVATION_LINEAR", elementwise(linear))
    desc = described("ACTIVATION_LINEAR", InputTensor=(data_type, 1), OutputTensor=(data_type, 1), Alpha=0.1, Beta=0)
    inputs = {"InputTensor": np.ones(1, data_type.lower())}
    engine.evaluate(desc, inputs)
    gathered(desc, inputs, {"OutputTensor": np.ones(1, bool)})
    assert isinstance(seen[0], float)
    assert isinstance(seen[1], Tracked) == is_tracked


# ---- threads

WIDE = (3, 4, 50_000)  # several pieces for every kernel
LONG = (3, 200_000)  # rows in blocks
ELEMENTS = np.random.default_rng(5).standard_normal(600_000, dtype=np.float32)
LIMIT = 1_000_000  # pieces, which take seconds
ROWS: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("ELEMENT_WISE_EXP", WIDE, {}),
    ("ELEMENT_WISE_LOG", WIDE, {"ScaleBias": {"Scale": 0.5, "Bias": 0.25}}),
    ("ACTIVATION_HARDMAX1", WIDE, {"Axes": [0, 2]}),
    ("ACTIVATION_HARDMAX1", LONG, {"Axes": [1]}),
    ("ACTIVATION_SOFTMAX1", WIDE, {"Axes": [0, 1]}),
    ("ACTIVATION_LOG_SOFTMAX1", LONG, {"Axes": [1]}),
    ("REDUCE", WIDE, {"Function": "AVERAGE", "Axes": [0]}),
    ("REDUCE", LONG, {"Function": "MAX", "Axes": [1]}),
    ("REDUCE", (600_000,), {"Function": "SUM", "Axes": [0]}),
]


@pytest.mark.parametrize(("operator", "sizes", "fields"), ROWS)
def test_results_are_the_same_in_any_number_of_threads(
    operator: str, sizes: tuple[int, ...], fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    desc, inputs = built(operator, ELEMENTS.reshape(sizes), **fields)
    alone = engine.evaluate(desc, inputs)["OutputTensor"].values  # has too few elements for threads
    monkeypatch.setattr(engine, "_MANY", ELEMENTS.size)
    used: list[int] = []
    shared = engine._shared
    monkeypatch.setattr(
        engine, "_shared", lambda pieces, work, threads: used.append(threads) or shared(pieces, work, threads)
    )
    for cores in (1, 2, 3, 64):
        monkeypatch.setattr(memory, "cores", lambda cores=cores: cores)
        together = engine.evaluate(desc, inputs)["OutputTensor"].values
        assert together.tobytes() == alone.tobytes()
    several = len(list(engine.pieces(desc, inputs))) > 1
    assert used == ([2, 3, 4] if several else [])


def counted(count: int) -> Iterator[Piece]:
    return (Piece(number % 8, None, ()) for number in range(count))  # type: ignore[arg-type]


def test_threads_share_the_pieces() -> None:
    lock, seen, places = threading.Lock(), set(), []
    both = threading.Barrier(2, timeout=60)

    def compute(piece: Piece) -> None:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            both.wait()
        with lock:
            places.append(piece.where)

    engine._run(counted(80), compute, 2)
    assert len(seen) == 2
    assert sorted(places) == sorted(number % 8 for number in range(80))


def test_an_error_in_one_thread_ends_the_others_and_is_raised() -> None:
    begun, done, first = threading.Event(), [0], threading.Lock()

    def compute(_: Piece) -> None:
        if first.acquire(blocking=False):
            begun.wait(60)
            raise MemoryError("no more")
        done[0] += 1
        begun.set()

    with pytest.raises(MemoryError, match="no more"):
        engine._run(counted(LIMIT), compute, 2)
    assert 0 < done[0] < LIMIT


def test_an_error_of_the_kernel_itself_is_raised_in_threads_too() -> None:
    def pieces() -> Iterator[Piece]:
        yield from counted(3)
        raise ValueError("a kernel that fails")

    for threads in (1, 2):
        with pytest.raises(ValueError, match="a kernel that fails"):
            engine._run(pieces(), lambda _: None, threads)


@pytest.mark.parametrize("most", [0, 1])
def test_what_a_system_gives_no_threads_for_is_done_in_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    places: list[Any] = []
    engine._run(counted(8), lambda piece: places.append(piece.where), 3)
    assert sorted(places) == list(range(8))
    assert len(started) == most


@pytest.mark.parametrize("operator", ["ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_HARDMAX"])
def test_a_long_row_is_never_widened_whole(operator: str) -> None:
    count = 1 << 22
    desc, inputs = built(operator, np.resize(ELEMENTS, (1, count)))
    asked = np.zeros((1, count), bool)
    asked[0, count // 2] = True
    for compute, own in (
        (
            lambda: engine.evaluate(desc, inputs),
            4 * count + 8 * engine._TEMPORARY,
        ),  # what is freed at once, and the output
        (lambda: gathered(desc, inputs, {"OutputTensor": asked}), 4 * count),  # numbers of what is asked
    ):
        tracemalloc.start()
        try:
            compute()
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < own + 3 * count  # less than half of the row as float64


def test_a_large_tensor_among_several_is_shared_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MANY", 4)
    monkeypatch.setattr(memory, "cores", lambda: 2)
    few, many = np.zeros(3), np.zeros(4)
    given = ({"InputTensors": [few, few]}, {"InputTensors": [few, many]}, {"ATensor": many, "BTensor": None})
    assert [engine._threads(inputs) for inputs in given] == [1, 2, 2]


def test_small_tensors_start_no_threads() -> None:
    code = (
        "import sys, numpy as np\n"
        "from dmlcheck import validation\n"
        "from dmlcheck.specs.names import NEWEST_LEVEL\n"
        "from dmlcheck.reference import engine\n"
        "tensor = {'DataType': 'FLOAT32', 'Sizes': [1000]}\n"
        "desc = {'InputTensor': tensor, 'OutputTensor': tensor}\n"
        "desc, _ = validation.validate('DML_OPERATOR_ELEMENT_WISE_ABS', desc, NEWEST_LEVEL)\n"
        "engine.evaluate(desc, {'InputTensor': np.ones(1000, np.float32)})\n"
        "assert 'concurrent.futures.thread' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
