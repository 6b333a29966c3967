"""Large tensors on several cores: the same results for any number of threads, and an error in one ends all."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmlcheck
from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.kernels import Result, Share, Wide, _blocks
from dmlcheck.values import memory

Array = np.ndarray[Any, Any]

WIDE = [3, 4, 50_000]  # several tiles for every kernel
LONG = [3, 200_000]  # rows that come in chunks
FLOATS = np.random.default_rng(5).standard_normal(600_000, dtype=np.float32)
LIMIT = 1_000_000  # tiles, which take seconds
SCALED = {"ScaleBias": {"Scale": 0.5, "Bias": 0.25}}
ROWS: list[tuple[str, list[int], list[int], dict[str, Any]]] = [
    ("ELEMENT_WISE_EXP", WIDE, WIDE, {}),
    ("ELEMENT_WISE_LOG", WIDE, WIDE, SCALED),
    ("ELEMENT_WISE_SQRT", WIDE, WIDE, {}),
    ("ACTIVATION_HARDMAX1", WIDE, WIDE, {"Axes": [0, 2]}),
    ("ACTIVATION_HARDMAX1", LONG, LONG, {"Axes": [1]}),
    ("ACTIVATION_SOFTMAX1", WIDE, WIDE, {"Axes": [0, 1]}),
    ("ACTIVATION_LOG_SOFTMAX1", LONG, LONG, {"Axes": [1]}),
    ("REDUCE", WIDE, [1, 4, 50_000], {"Function": "AVERAGE", "Axes": [0]}),
    ("REDUCE", LONG, [3, 1], {"Function": "MAX", "Axes": [1]}),
]


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(1, 5))
def test_shares_cover_every_piece_once(pieces: int, threads: int) -> None:
    shares = [list(Share(number, threads).of(range(pieces))) for number in range(threads)]
    assert sorted(piece for share in shares for piece in share) == list(range(pieces))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(("operator", "sizes", "reduced", "fields"), ROWS)
def test_results_are_the_same_in_any_number_of_threads(
    operator: str, sizes: list[int], reduced: list[int], fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": sizes},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": reduced},
        **fields,
    }
    inputs = {"InputTensor": FLOATS.reshape(sizes)}
    (alone,) = dmlcheck.evaluate(operator, desc, inputs).values()  # has too few elements for threads
    monkeypatch.setattr(engine, "_MANY", FLOATS.size)
    shares: list[int] = []
    in_threads = engine._in_threads
    monkeypatch.setattr(engine, "_in_threads", lambda place, of: shares.append(len(of)) or in_threads(place, of))
    for cores in (1, 2, 3, 64):
        monkeypatch.setattr(memory, "cores", lambda cores=cores: cores)
        (together,) = dmlcheck.evaluate(operator, desc, inputs).values()
        assert together.tobytes() == alone.tobytes()
    assert shares == [2, 3, 4]


def test_an_error_in_one_thread_ends_the_others_and_is_raised() -> None:
    begun = threading.Event()
    done = [0]

    def tiles(share: Share) -> Iterator[tuple[Any, Wide]]:
        for place in range(LIMIT):
            if share.first == 1:
                begun.wait(60)
                raise MemoryError("no more")
            yield (slice(place % 8, place % 8 + 1),), Wide(np.zeros(1))
            begun.set()
            done[0] += 1

    tensor = TensorDesc("FLOAT32", (8,))
    with pytest.raises(MemoryError, match="no more"):
        engine.assemble(Result((0,), tiles), tensor, threads=2)
    assert done[0] < LIMIT


@pytest.mark.parametrize("most", [0, 1])
def test_what_a_system_gives_no_threads_for_is_done_in_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    def tiles(share: Share = _blocks.ALL) -> Iterator[tuple[Any, Wide]]:
        for place in share.of(range(8)):
            yield (slice(place, place + 1),), Wide(np.array([place + 1.0]))

    monkeypatch.setattr(threading.Thread, "start", refuse)
    found = engine.assemble(Result((0,), tiles), TensorDesc("FLOAT32", (8,)), threads=3)
    assert found.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert len(started) == most


def test_as_many_threads_as_cores_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert memory.cores() == 3
    monkeypatch.delattr(memory.os, "sched_getaffinity")
    monkeypatch.setattr(memory.os, "cpu_count", lambda: 7)
    assert memory.cores() == 7
    monkeypatch.setattr(memory.os, "cpu_count", lambda: None)
    assert memory.cores() == 1


def test_shares_of_long_rows_hold_every_row_once() -> None:
    view = np.arange(600_000, dtype=np.float32).reshape(3, 200_000)
    found = [index for number in range(2) for index, _ in _blocks.rows(view, 1, Share(number, 2))]
    assert found == [(0,), (2,), (1,)]


def test_small_tensors_start_no_threads() -> None:
    code = (
        "import sys, dmlcheck, numpy as np\n"
        "tensor = {'DataType': 'FLOAT32', 'Sizes': [1000]}\n"
        "dmlcheck.evaluate('ELEMENT_WISE_ABS', {'InputTensor': tensor, 'OutputTensor': tensor},"
        " {'InputTensor': np.ones(1000, np.float32)})\n"
        "assert 'concurrent.futures.thread' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
