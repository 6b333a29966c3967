"""What the fuzz test is made of: seeds, how they are changed, and how a command is watched.

A finding is a traceback, a hang, an exit code that the contract does not have, or memory beyond a limit.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from click.testing import CliRunner
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from dmlcheck.cli import main

EXIT_CODES = (0, 1, 2, 5, 130)
MOST_SECONDS = 60  # that a command may take on these small files, on a busy machine
MOST_BYTES = 700 * 2**20  # that the process may grow by: the blocks of an engine and its files
SPARE = 300 * 2**20  # bytes that commands are told this machine can spare

Files = dict[str, bytes]


class Hang(BaseException):
    """A command that took too long."""


class Job(NamedTuple):
    """Files to write and the commands to run on them, one after the other."""

    files: Files
    commands: Sequence[Sequence[str]]


def run(job: Job) -> None:
    """Run the commands of a job in the current folder, made empty; AssertionError for a finding."""
    _empty(".")
    for name, data in job.files.items():
        if os.path.dirname(name):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(data)
    for command in job.commands:
        try:
            watched(command)
        except Hang as hang:
            raise Hang(f"{hang}: {job.files}") from None


def watched(command: Sequence[str]) -> None:
    """Run a command; AssertionError where what it does is a finding."""
    before = _peak()
    with _alarm(command), _limit():
        result = CliRunner().invoke(main, list(command), input="")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        trace = "".join(traceback.format_exception(*result.exc_info))  # type: ignore[misc]
        raise AssertionError(f"a traceback of {command}:\n{trace}")
    assert result.exit_code in EXIT_CODES, f"exit code {result.exit_code} of {command}"
    assert "not fit into memory" not in result.output, f"memory was asked for that is not there: {command}"
    grown = _peak() - before
    assert grown < MOST_BYTES, f"{grown >> 20} MiB more for {command}"


def _peak() -> int:
    """Return the most memory that this process had so far; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@contextlib.contextmanager
def _alarm(command: Sequence[str]) -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return

    def ring(*_: object) -> None:
        raise Hang(f"{command} took more than {MOST_SECONDS} s")

    earlier = signal.signal(signal.SIGALRM, ring)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    """Let the process take no more than some times the limit, so that a finding does not end other programs."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + 4 * MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _empty(folder: str) -> None:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.remove(entry.path)


def fuzz(jobs: st.SearchStrategy[Job], seconds: float, first: int) -> None:
    """Run what a strategy draws for some seconds, from a seed on; a job that finds something is shrunk and raised."""
    end = time.monotonic() + seconds
    has_failed = False

    def check(job: Job) -> None:
        nonlocal has_failed
        if time.monotonic() > end and not has_failed:
            return
        try:
            run(job)
        except AssertionError:
            has_failed = True
            raise

    few = settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    for number in itertools.count(first):
        seed(number)(few(given(jobs)(check)))()
        if time.monotonic() > end:
            return


# ---- trees: JSON values, changed in places

ATOMS: list[Any] = [
    None, True, "", "\ud800", "a\0b", "\n::error::x", "\x1b[31m", "/", "..", "-", "x" * 3000, "*" * 60, "${A}", "${",
    -1, 0, 1, 3, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 2**70, 1e-320, 1e308, -0.0, 0.5, float("nan"), float("inf"),
    [], {}, [[[]]], [0], [2**32], [1] * 99, {"": {}}, "FLOAT16", "UINT64", "INT4", "GEMM", "DML_OPERATOR_JOIN", "6_4",
    {"fill": 0}, {"fill": "nan"}, {"sequence": {"start": 0, "step": 1e308}}, {"random": {"seed": -1, "low": 1,
    "high": 0}},
    {"file": "x.npy"}, {"file": "../x.npy"}, {"file": "\ud800"}, {"buffer": [1, 2]}, {"bits": [2**64]}, "any",
    "0x1p99999",
    {"DataType": "FLOAT32", "Sizes": [1, 2]}, {"DataType": "FLOAT32", "Sizes": [2, 1], "Strides": [2**31, 1]},
    {"DataType": "INT8", "Sizes": [65536, 65535]}, {"Type": "ACTIVATION_RELU"}, {"Type": "ACTIVATION_ELU",
    "Desc": {}},
    {"A": [1, 2], "B": ["x", None]}, {"ulp": 1}, {"absolute": -1}, "exact", "python:os:path", "2027-01-31",
    "2027-13-99",
]  # fmt: skip


def trees(seeds: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Draw one of some JSON values, changed in a few places."""

    @st.composite
    def changed(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
        tree = [copy.deepcopy(draw(st.sampled_from(seeds)))]
        for _ in range(draw(st.integers(1, 4))):
            _change(tree, draw)
        return tree[0]

    return changed()


def _change(tree: list[Any], draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
    places = list(_places(tree))
    holder, key = places[draw(st.integers(0, len(places) - 1))]
    how = draw(st.sampled_from(("atom", "drop", "copy", "name", "repeat")))
    if how == "atom":
        holder[key] = copy.deepcopy(draw(st.sampled_from(ATOMS)))
    elif how == "drop" and holder is not tree:
        del holder[key]
    elif how == "copy":
        there, other = places[draw(st.integers(0, len(places) - 1))]
        holder[key] = copy.deepcopy(there[other])
    elif how == "name" and isinstance(holder, dict):
        name = draw(st.sampled_from(["", "\ud800", "x\n::error::", "a\0", "name", "Sizes", "Strides", "cases", "${A}"]))
        holder[name] = holder.pop(key)
    elif how == "repeat" and isinstance(holder[key], list):
        holder[key] = holder[key] * draw(st.integers(0, 40))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a value: what holds it, and its key or index there."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], (dict, list)):
            yield from _places(tree[key])


def as_json(tree: Any) -> bytes:
    """Return a value as a file that is read as JSON and as YAML; a half of a surrogate pair is written as an escape."""
    return json.dumps(tree).encode()


# ---- bytes

_PIECES = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\r", b"\n", b"\t", b"[" * 60, b"{", b"}", b"]", b",", b": ", b"- ", b"&a ",
    b"*a", b"'",
    b'"', b"#", b"!!", b"%", b"|\n", b">", b"\xef\xbb\xbf", b"<<: ", b"---\n", b"...", b"9" * 5000, b"1e999", b"${",
    b"\xe2\x80\xa8",
]  # fmt: skip


def spoilt(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Draw one of some texts, with pieces cut out, repeated or put in."""

    @st.composite
    def changed(draw: Callable[[st.SearchStrategy[Any]], Any]) -> bytes:
        data: bytes = draw(st.sampled_from(seeds))
        for _ in range(draw(st.integers(1, 4))):
            start = draw(st.integers(0, len(data)))
            end = draw(st.integers(start, min(len(data), start + 40)))
            times = draw(st.sampled_from((0, 0, 1, 2, 30)))
            data = data[:start] + data[start:end] * times + draw(st.sampled_from((b"", *_PIECES))) + data[end:]
        return data

    return changed()
