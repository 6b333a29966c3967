"""Calls on the workers of a cluster: in order, retried once when a worker dies, cancelled at the end."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dask_calls import doubled, ended_once

from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.processes import cluster as module
from dmlcheck.processes.cluster import Cluster, Lost, packed

CANNOT_IMPORT = """\
the worker tcp://w:1 cannot import dmlcheck: ModuleNotFoundError: No module named 'dmlcheck'; \
install dmlcheck {} where the workers run"""


class Future:
    """A call that is done when it is asked for."""

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
        self.result = lambda: function(*given)

    def done(self) -> bool:
        return True

    def add_done_callback(self, called: Callable[[Future], object]) -> None:
        called(self)


class Slow(Future):
    """A call that is done when it is asked for while a condition holds."""

    def __init__(self, is_done: Callable[[], bool]) -> None:
        super().__init__(packed, (doubled, 0))
        self.is_done = is_done
        self.left = 1000  # times that it may be asked for
        self.called: list[Callable[[Future], object]] = []

    def done(self) -> bool:
        self.left -= 1
        assert self.left, "it is never done"
        if not self.is_done():
            return False
        while self.called:
            self.called.pop()(self)
        return True

    def add_done_callback(self, called: Callable[[Future], object]) -> None:
        self.called.append(called)


class Client:
    """A client of two threads that notes what it is asked for."""

    def __init__(self, versions: dict[str, Any] | None = None) -> None:
        self.versions = versions or {}
        self.sent: list[Any] = []
        self.cancelled: list[Any] = []
        self.first: Future | None = None  # what the first call is

    def submit(self, function: Callable[..., Any], *given: Any, pure: bool) -> Future:
        assert not pure  # the same call twice is two calls
        self.sent.append(given[1:] if function is packed else given)
        return self.first if self.first is not None and len(self.sent) == 1 else Future(function, given)

    def nthreads(self) -> dict[str, int]:
        return {"a": 1, "b": 1}

    def cancel(self, futures: list[Any]) -> None:
        self.cancelled += futures

    def wait_for_workers(self, count: int, timeout: float) -> None:
        pass

    def run(self, function: Callable[..., Any], on_error: str) -> dict[str, Any]:
        assert (function(), on_error) == (module.__version__, "return")  # what a worker with this version would say
        return self.versions


def with_client(client: Client) -> Cluster:
    made = Cluster("tcp://host:1")
    made.client = client
    return made


def test_what_calls_return_comes_back_in_their_order() -> None:
    client = Client()
    assert list(with_client(client).map(doubled, [3, 1, 2])) == [(3, 6), (1, 2), (2, 4)]
    assert with_client(client).ask(doubled, 4) == 8


def test_a_call_that_ends_badly_is_lost_and_the_others_go_on() -> None:
    found = list(with_client(Client()).map(doubled, [1, 13, 2]))
    assert found == [(1, 2), (13, Lost("ValueError: 13 is not doubled")), (2, 4)]


@pytest.mark.parametrize(("address", "is_lost"), [("", True), ("tcp://host:1", False)])
def test_calls_are_lost_where_dask_starts_no_worker_again(
    monkeypatch: pytest.MonkeyPatch, address: str, is_lost: bool
) -> None:
    monkeypatch.setattr(module, "_DESERTED", 0)
    monkeypatch.setattr(module, "_RECENT", 0)
    monkeypatch.setattr(module, "_MOMENT", 0.001)
    made, client = Cluster(address), Client()
    made.client = client
    monkeypatch.setattr(client, "submit", lambda *_, **__: Slow(lambda: False))
    results = made.map(doubled, range(20))
    made.threads()
    monkeypatch.setattr(client, "nthreads", dict)
    if is_lost:
        lost = Lost("its worker ended, and no other could be started")
        assert list(results) == [(number, lost) for number in range(20)]
    else:
        with pytest.raises(AssertionError, match="it is never done"):
            list(results)


def test_each_thread_has_two_calls_and_those_under_way_are_cancelled() -> None:
    client = Client()
    results = with_client(client).map(doubled, iter(range(1000)))
    assert next(results) == (0, 0)
    assert len(client.sent) == 4
    assert next(results) == (1, 2)
    assert len(client.sent) <= 8
    results.close()
    assert len(client.cancelled) == len(client.sent) - 2


def test_answers_wait_for_their_turn_while_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call is done when all others were sent, which are held until their turn."""
    monkeypatch.setattr(module, "_MOMENT", 0)
    client = Client()
    client.first = Slow(lambda: len(client.sent) == 10)
    assert list(with_client(client).map(doubled, range(10))) == [(number, 2 * number) for number in range(10)]


class KilledWorker(Exception):
    """What dask raises of a call whose worker died."""


def dead(*_: Any) -> None:
    raise KilledWorker


class Dying(Client):
    """A client of which the worker of the call 1 dies; the call runs again until it is told to be done."""

    def __init__(self, again: Future) -> None:
        super().__init__()
        self.again = again

    def submit(self, function: Callable[..., Any], *given: Any, pure: bool) -> Future:
        count = self.sent.count((1,))
        future = super().submit(function, *given, pure=pure)
        return future if given[1:] != (1,) else self.again if count else Future(dead, given)


def test_a_call_whose_worker_died_runs_again_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOMENT", 0)
    last_sent: list[Any] = []

    def is_done() -> bool:
        last_sent.append(client.sent[-1])
        return len(last_sent) == 20

    client = Dying(Slow(is_done))
    found = with_client(client).map(doubled, range(100))
    assert [given for given, _ in found] == list(range(100))
    assert last_sent == [(1,)] * 20
    assert client.sent.count((1,)) == 2


def test_a_call_whose_worker_dies_again_is_lost() -> None:
    found = dict(with_client(Dying(Future(dead, ()))).map(doubled, range(3)))
    assert found == {0: 0, 1: Lost("KilledWorker", is_of_its_worker=True), 2: 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("9.9", "the worker tcp://w:1 has dmlcheck 9.9, and this is {}; install the same version on both"),
        (
            ModuleNotFoundError("No module named 'dmlcheck'"),
            CANNOT_IMPORT,
        ),
    ],
)
def test_a_worker_with_another_dmlcheck_is_refused(version: Any, problem: str) -> None:
    pytest.importorskip("distributed", reason="there is no dask")
    with pytest.raises(MissingRequirement) as refused:
        with_client(Client({"tcp://w:1": version}))._check()
    assert str(refused.value) == problem.format(module.__version__)


@pytest.mark.slow
def test_a_missing_package_is_said_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingRequirement, match=r"it needs the package distributed .*pip install"), Cluster():
        pass


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_an_address_where_nothing_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="there is no dask")
    monkeypatch.setattr(module, "_WAIT", 0.2)
    with (
        pytest.raises(MissingRequirement, match=r"nothing answers at tcp://127\.0\.0\.1:1: "),
        Cluster("tcp://127.0.0.1:1"),
    ):
        pass
    with pytest.raises(MissingRequirement, match="nothing answers at nowhere://x: "), Cluster("nowhere://x"):
        pass
    gc.collect()  # clients that did not connect: dask waits forever where one is collected while another one starts


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no masks of signals")
@pytest.mark.parametrize(("address", "is_held"), [("tcp://host:1", False), ("", True)])
def test_an_interrupt_ends_the_wait_for_a_scheduler(
    address: str, is_held: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is held back only while processes start."""
    pytest.importorskip("distributed", reason="there is no dask")
    held = []

    def connect(*_: Any) -> None:
        held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))

    monkeypatch.setattr(module, "_start_method", lambda: "spawn")
    monkeypatch.setattr(Cluster, "_connect", connect)
    monkeypatch.setattr(Cluster, "_check", lambda _: None)
    with Cluster(address):
        pass
    assert held == [is_held]


@pytest.mark.skipif(sys.platform != "linux", reason="there are no copies")
def test_workers_are_no_copies_where_their_server_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from multiprocessing import forkserver

    def without_socket() -> None:
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(forkserver, "set_forkserver_preload", lambda _: None)
    monkeypatch.setattr(forkserver, "ensure_running", lambda: None)
    assert (module._start_method(), os.environ["OMP_NUM_THREADS"]) == ("forkserver", "1")
    monkeypatch.setattr(forkserver, "ensure_running", without_socket)
    assert module._start_method() == "spawn"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask's own
def test_a_call_whose_worker_dies_runs_once_more(tmp_path: Path) -> None:
    """Two processes: one call ends its worker the first time, one each time; those around them come back."""
    pytest.importorskip("distributed", reason="there is no dask")
    once, always = str(tmp_path / "once"), str(tmp_path / "always")
    with Cluster(jobs=2) as made:
        found = [result for _, result in made.map(ended_once, ["", once, "", always, ""])]
        assert (made.ask(os.getenv, "OMP_NUM_THREADS"), made.ask(os.getenv, "MALLOC_TRIM_THRESHOLD_")) == ("1", None)
        scheduler = made.client.cluster.scheduler
        pages = [rule.matcher.regex.pattern for rule in scheduler.http_application.wildcard_router.rules]
        assert (scheduler.http_server.address, [page for page in pages if "status" in page]) == ("127.0.0.1", [])
    assert found[:3] == ["untouched", "once", "untouched"]
    assert isinstance(found[3], Lost)
    assert found[3].problem.startswith("KilledWorker: ")
    assert found[4] == "untouched"
