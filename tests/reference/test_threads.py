"""The tiles of an operator's results, shared among threads."""

from __future__ import annotations

import platform
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from grouped import built

from dmlcheck.reference import engine
from dmlcheck.reference.tiling.plan import tiles_of
from dmlcheck.reference.tiling.request import Tile
from dmlcheck.values import memory

WIDE = (3, 4, 50_000)  # several tiles for every kernel
LONG = (3, 200_000)  # rows in blocks
ELEMENTS = np.random.default_rng(5).standard_normal(600_000, dtype=np.float32)
LIMIT = 1_000_000  # tiles, which take seconds
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


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "sizes", "fields"), ROWS)
def test_results_are_the_same_in_any_number_of_threads(
    operator: str, sizes: tuple[int, ...], fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    desc, inputs = built(operator, ELEMENTS.reshape(sizes), **fields)
    alone = engine.evaluate(desc, inputs)["OutputTensor"].values  # has too few elements for threads
    monkeypatch.setattr(engine, "_MANY", ELEMENTS.size)
    used: list[int] = []
    shared = engine._shared
    monkeypatch.setattr(engine, "_shared", lambda tiles, work, count: used.append(count) or shared(tiles, work, count))
    for cores in (1, 2, 3, 64):
        monkeypatch.setattr(memory, "cores", lambda cores=cores: cores)
        together = engine.evaluate(desc, inputs)["OutputTensor"].values
        assert together.tobytes() == alone.tobytes()
    several = len(list(tiles_of(desc, inputs))) > 1
    assert used == ([2, 3, 4] if several else [])


def counted(count: int) -> Iterator[Tile]:
    return (Tile(number % 8, None, ()) for number in range(count))  # type: ignore[arg-type]


def test_threads_share_the_tiles() -> None:
    lock, seen, places = threading.Lock(), set(), []
    both = threading.Barrier(2, timeout=60)

    def compute(tile: Tile) -> None:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            both.wait()
        with lock:
            places.append(tile.where)

    engine.compute_all(counted(80), compute, 2)
    assert len(seen) == 2
    assert sorted(places) == sorted(number % 8 for number in range(80))


def test_an_error_in_one_thread_ends_the_others_and_is_raised() -> None:
    begun, done, first = threading.Event(), [0], threading.Lock()

    def compute(_: Tile) -> None:
        if first.acquire(blocking=False):
            begun.wait(60)
            raise MemoryError("no more")
        done[0] += 1
        begun.set()

    with pytest.raises(MemoryError, match="no more"):
        engine.compute_all(counted(LIMIT), compute, 2)
    assert 0 < done[0] < LIMIT


def test_an_error_of_the_kernel_itself_is_raised_in_threads_too() -> None:
    def failing() -> Iterator[Tile]:
        yield from counted(3)
        raise ValueError("a kernel that fails")

    for count in (1, 2):
        with pytest.raises(ValueError, match="a kernel that fails"):
            engine.compute_all(failing(), lambda _: None, count)


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
    engine.compute_all(counted(8), lambda tile: places.append(tile.where), 3)
    assert sorted(places) == list(range(8))
    assert len(started) == most


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_HARDMAX"])
def test_a_long_row_is_never_widened_whole(operator: str) -> None:
    count = 1 << 22
    desc, inputs = built(operator, np.resize(ELEMENTS, (1, count)))
    asked = np.zeros((1, count), bool)
    asked[0, count // 2] = True
    for compute, own in (
        (lambda: engine.evaluate(desc, inputs), 4 * count),  # the output
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
    assert [engine.threads_for(inputs) for inputs in given] == [1, 2, 2]


@pytest.mark.slow
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


FAULTS = """
import resource
import numpy as np
from dmlcheck.reference.engine import keep_memory
keep_memory()

def tile():
    for array in [np.empty(1 << 18) for _ in range(4)]:
        array.fill(1)

tile()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    tile()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have rules of their own")
def test_the_memory_of_a_tile_is_used_again() -> None:
    """4 arrays of 2 MiB have 512 pages each, which fault once and not 20 times."""
    run = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 4 * 512
