"""A child: a Python process that is asked and answers, or is lost: it ends, or its answer takes too long."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from multiprocessing import Pipe
from typing import Any

from dmlcheck.diagnostics.record import Finding
from dmlcheck.processes import body
from dmlcheck.processes.programs import OWN_GROUP, ended_text, ending, kill

SHUTDOWN_TIME = 5.0  # seconds for a child without a question to end by itself
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_BODY = (
    "import sys; sys.path[:{replaced}] = {paths!r}; "
    "from dmlcheck.processes.body import main; main({handle}, {module!r})"
)
_KEPT = 4096  # bytes of the end of the output of an isolated child


class LostChild(Exception):
    """A child that ended, or closed its connection, instead of answering; the message completes a sentence about it."""

    def __init__(self, code: int | None, *, was_ready: bool = True) -> None:
        """Take its exit code, None if it has none yet."""
        super().__init__("closed its connection instead of answering" if code is None else ended_text(code))
        self.problem = ending(code)  # as the end of a sentence about the implementation in the child
        self.was_ready = was_ready

    def result(self, implementation: str, timeout: float | None) -> tuple[str, Finding]:  # noqa: ARG002 - see LateChild
        """Return the reason and the finding of a result that is lost with the child."""
        params = {"implementation": implementation, "problem": self.problem}
        return "the process ended", Finding("implementation-error", (), params)


class LateChild(LostChild):
    """A child that has not answered in time."""

    def __init__(self, *, was_ready: bool = True) -> None:
        """Begin without an exit code."""
        super().__init__(None, was_ready=was_ready)
        self.problem = "did not end in time"

    def result(self, implementation: str, timeout: float | None) -> tuple[str, Finding]:  # noqa: ARG002
        """Return the reason and the finding of a result that did not come within the timeout."""
        return "timed out", Finding("timeout", (), {"seconds": f"{timeout:g}"})


class Child:
    """A process that calls the function `serve` of a module with a connection to this process.

    Its first message says that it is ready; a question that is pending makes it busy. A busy child is killed when it is
    stopped, or has a shutdown time after SIGTERM if its work must be ended in order.
    """

    def __init__(self, module: str, *arguments: Any, start_time: float = math.inf, shutdown_time: float = 0.0) -> None:
        """Start the process with further arguments of `serve`; it is late if it is not ready after `start_time`."""
        self.start_time = start_time
        self.shutdown_time = shutdown_time
        self.is_ready = self.is_busy = False
        self.connection, theirs = Pipe()
        try:
            with interrupts_held():
                self.process: subprocess.Popen[bytes] = self._started(module, theirs.fileno())
        except BaseException:
            self.connection.close()
            raise
        finally:
            theirs.close()
        _CHILDREN.add(self)
        with contextlib.suppress(OSError):  # it may be gone already, which the first answer tells
            body.send(self.connection, arguments)

    def _started(self, module: str, handle: int) -> subprocess.Popen[bytes]:
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined] # noqa: SLF001 - as multiprocessing has them
        body = _BODY.format(replaced="", paths=list(map(str, sys.path)), handle=handle, module=module)
        return _python([*flags, "-c", body], handle)

    def ask(self, question: Any, seconds: float | None) -> Any:
        """Return the answer to a question; LostChild or LateChild if there is none.

        A child that is lost is busy until it is stopped.
        """
        self.send(question)
        if not self.is_ready:
            self.ready()
        answer = self.receive(seconds)
        self.is_busy = False
        return answer

    def send(self, question: Any) -> None:
        """Send a question; a process that is gone is lost at its next message."""
        self.is_busy = True
        with contextlib.suppress(OSError):
            body.send(self.connection, question)

    def ready(self) -> Any:
        """Return the first message, when the process is ready."""
        message = self.receive(None if self.start_time == math.inf else self.start_time)
        self.is_ready = True
        return message

    def receive(self, seconds: float | None = None) -> Any:
        """Return the next message; LostChild or LateChild if there is none."""
        try:
            if self.connection.poll(seconds):
                return body.receive(self.connection)
        except (EOFError, OSError):
            raise LostChild(self._waited(SHUTDOWN_TIME), was_ready=self.is_ready) from None
        raise LateChild(was_ready=self.is_ready)

    def _waited(self, seconds: float) -> int | None:
        """Return the exit code of the process; wait for it for some seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode

    def dismiss(self) -> None:
        """Let the process end without waiting for it, if it is not busy or has a shutdown time."""
        if self.is_busy and self.shutdown_time:
            self.process.terminate()
        self.connection.close()

    def stop(self) -> int | None:
        """End the process and return its exit code."""
        self.dismiss()
        try:
            self._waited(self.shutdown_time if self.is_busy else SHUTDOWN_TIME)
        finally:
            self.kill()
        return self.process.returncode

    def kill(self) -> None:
        """End the process at once."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


class IsolatedChild(Child):
    """A child without the folders and the settings of the user, with a changed environment, whose output is kept.

    Processes that it started end with it.
    """

    def __init__(self, module: str, *arguments: Any, environment: Mapping[str, str], start_time: float) -> None:
        """Start the process; OSError if that is not possible."""
        self.environment = {**os.environ, **environment}
        self.errors = ""
        self.written = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        try:
            super().__init__(module, *arguments, start_time=start_time)
        except BaseException:
            self.written.close()
            raise

    def _started(self, module: str, handle: int) -> subprocess.Popen[bytes]:
        # The folder of the user is no place to import from, and what `site` would set up is not needed.
        body = _BODY.format(replaced=0, paths=[_ROOT], handle=handle, module=module)
        output = {"stdout": self.written, "stderr": self.written}
        return _python(["-I", "-S", "-c", body], handle, env=self.environment, **output, **OWN_GROUP)

    def kill(self) -> None:
        """End the process at once, with those that it started, and keep the end of its output as `errors`."""
        kill(self.process)  # before the connection closes: once the child has ended, what it started is not found
        self.connection.close()
        self.process.wait()
        if not self.written.closed:
            with self.written:
                self.written.seek(max(0, self.written.seek(0, os.SEEK_END) - _KEPT))
                self.errors = self.written.read().decode("utf-8", "replace")


def end(children: Iterable[Child]) -> None:
    """Stop children, all at a time."""
    children = list(children)
    for child in children:
        child.dismiss()
    for child in children:
        child.stop()


_CHILDREN: weakref.WeakSet[Child] = weakref.WeakSet()
atexit.register(lambda: end(child for child in _CHILDREN if child.process.returncode is None))


def _python(words: list[str], handle: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start this interpreter in another process, which inherits a handle and no other."""
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)  # noqa: FBT003 - positional only
        options["startupinfo"] = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
    else:
        options["pass_fds"] = (handle,)
    return subprocess.Popen([sys.executable, *words], stdin=subprocess.DEVNULL, **options)  # noqa: S603


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold interrupts back while a process starts: one would end it with a traceback before it can ignore it.

    The process begins with interrupts blocked, since it inherits that from this one.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
