"""A headless Chromium that runs through many tests, which speak to it in its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WORDS = (
    "--headless",
    "--no-sandbox",  # the tests may run as root, and the pages are their own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no network but this machine
    "--remote-debugging-pipe",
)
MOST_SECONDS = 120  # for an answer
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, "Home": 36, "End": 35, "ArrowLeft": 37, "ArrowUp": 38}
KEYS |= {"ArrowRight": 39, "ArrowDown": 40, "Backspace": 8}
TYPED = {"Enter": "\r"}


def chromium() -> str:
    """Return a Chromium that runs, or skip."""
    if not hasattr(os, "posix_spawn"):
        pytest.skip("no pipes to a Chromium on Windows, so no browser has looked at the pages")
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            asked = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
            if asked.returncode == 0:
                return path
    pytest.skip("no Chromium here, so no browser has looked at the pages; on Debian: apt-get install chromium")


class Page:
    """A page in a browser: what is done to it, and what it says."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser = browser
        self.session = session
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **values: Any) -> Any:
        return self.browser.call(method, self.session, **values)

    def go(self, address: str) -> None:
        """Load an address, to the end of its scripts."""
        self.browser.events.clear()
        went = self.call("Page.navigate", url=address)
        if "loaderId" in went:  # and not a place of the page that is there
            self.browser.wait(self.session, "Page.loadEventFired")

    def seconds_to_load(self, address: str) -> float:
        """Load an address anew, and return how long it took the browser until all of the page was there."""
        self.go("about:blank")
        self.go(address)
        return float(self.run("performance.getEntriesByType('navigation')[0].domComplete")) / 1000

    def run(self, script: str) -> Any:
        """Return the value of an expression, and wait for it if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 844) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def colours(self, scheme: str) -> None:
        """Ask for a `light` or a `dark` page."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, *keys: str) -> None:
        """Press and release keys one after the other."""
        for key in keys:
            code = KEYS.get(key) or ord(key.upper())
            values = {"key": key, "windowsVirtualKeyCode": code, "code": key if key in KEYS else ""}
            text = TYPED.get(key, "" if key in KEYS else key)
            self.call("Input.dispatchKeyEvent", type="keyDown", **values, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def picture(self, *, is_whole: bool = False) -> bytes:
        """Return what the window shows as a PNG, or all of the page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        return base64.b64decode(shot["data"])

    def said(self) -> list[str]:
        """Return what stands in the console since the page was loaded."""
        self.run("0")
        own = [values for session, method, values in self.browser.events if session == self.session and method in SAID]
        return [json.dumps(values) for values in own]


SAID = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


class Browser:
    """A running Chromium; messages end with a NUL, and go through its third and fourth file."""

    def __init__(self, path: str, folder: Path) -> None:
        to_read, self.writing = map(_moved, os.pipe())
        self.reading, to_write = map(_moved, os.pipe())
        null = os.open(os.devnull, os.O_RDWR)
        files = [(null, 0), (null, 1), (null, 2), (to_read, 3), (to_write, 4)]
        words = [path, *WORDS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        actions = [(os.POSIX_SPAWN_DUP2, file, number) for file, number in files]
        self.process = os.posix_spawn(path, words, os.environ, file_actions=actions, setpgroup=0)
        for file in (to_read, to_write, null):
            os.close(file)
        self.numbers = itertools.count(1)
        self.events: list[tuple[str | None, str, Any]] = []
        self.kept = b""

    def call(self, method: str, session: str | None = None, **values: Any) -> Any:
        """Return the answer to a command; events that come meanwhile are kept."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": values, **({"sessionId": session} if session else {})}
        sent = json.dumps(message).encode() + b"\0"
        while sent:
            sent = sent[os.write(self.writing, sent) :]
        until = time.monotonic() + MOST_SECONDS
        while True:
            answer = self._next(until)
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def wait(self, session: str, method: str) -> None:
        """Wait for an event of a page."""
        until = time.monotonic() + MOST_SECONDS
        while not any(event[:2] == (session, method) for event in self.events):
            self._next(until)

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self.kept:
            ready, _, _ = select.select([self.reading], [], [], max(0.0, until - time.monotonic()))
            assert ready, "Chromium does not answer"
            read = os.read(self.reading, 1 << 20)
            assert read, "Chromium has ended"
            self.kept += read
        first, _, self.kept = self.kept.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        if "method" in message:
            self.events.append((message.get("sessionId"), message["method"], message["params"]))
        return message

    @contextmanager
    def page(self) -> Iterator[Page]:
        """Give a new page, and close it in the end."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        yield Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        self.call("Target.closeTarget", targetId=target)

    def close(self) -> None:
        try:
            self.call("Browser.close")
        finally:
            if not _ended(self.process):
                os.killpg(self.process, signal.SIGKILL)
            os.close(self.reading)
            os.close(self.writing)


def _moved(file: int) -> int:
    """Return a file under a number that is not one of those which Chromium wants."""
    import fcntl

    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(file)
    return moved


def _ended(process: int) -> bool:
    for _ in range(100):
        if os.waitpid(process, os.WNOHANG)[0]:
            return True
        time.sleep(0.1)
    return False
