"""A real browser without a screen: Chromium, led through a pipe by its DevTools protocol.

https://chromedevtools.github.io/devtools-protocol/ has its calls; messages end with a zero byte.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.children import DYING_WITH_US

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND = next((found for name in NAMES if (found := shutil.which(name))), None)
needed = pytest.mark.skipif(FOUND is None, reason=f"no browser is installed: none of {', '.join(NAMES)}")
# It reads calls from its file 3, and answers into 4.
LED = 'exec "${@:3}" 3<&"$1" 4>&"$2"'
# Its sandbox wants rights that a container has not; the pages are our own.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
FLAGS += ("--disable-background-networking", "--disable-lcd-text", "--force-device-scale-factor=1", "--no-first-run")
SECONDS = 180.0
Json = dict[str, Any]


class Box(NamedTuple):
    """Of a page, in pixels."""

    left: float
    top: float
    width: float
    height: float


class Browser:
    """One thread leads it."""

    def __init__(self, hears: int, says: int) -> None:
        self._hears, self._says, self._number, self._rest = hears, says, 0, b""
        self._events = list[Json]()

    def call(self, method: str, session: str = "", **given: Any) -> Json:
        self._number += 1
        message = {"id": self._number, "method": method, "params": given, **({"sessionId": session} if session else {})}
        os.write(self._says, json.dumps(message).encode() + b"\0")
        while (heard := self._heard()).get("id") != self._number:
            self._events.append(heard)
        assert "error" not in heard, f"{method}: {heard['error']}"
        found: Json = heard["result"]
        return found

    def await_event(self, method: str, session: str) -> None:
        """One that came since the last call of this."""
        known, self._events = self._events, []
        heard = iter(known)
        while True:
            one = next(heard, None) or self._heard()
            if (one.get("method"), one.get("sessionId")) == (method, session):
                return

    def _heard(self) -> Json:
        until = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            there, _, _ = select.select([self._hears], [], [], max(0.0, until - time.monotonic()))
            assert there, f"the browser says nothing for {SECONDS:g} s"
            more = os.read(self._hears, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        heard: Json = json.loads(message)
        return heard

    def tab(self, width: int, height: int) -> "Tab":
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable", session)
        tab = Tab(self, session)
        tab.size(width, height)
        return tab


class Tab(NamedTuple):
    browser: Browser
    session: str

    def size(self, width: int, height: int) -> None:
        how = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.call("Emulation.setDeviceMetricsOverride", self.session, **how)

    def open(self, url: str) -> float:
        """Seconds until all of it is there."""
        begun = time.monotonic()
        told = self.browser.call("Page.navigate", self.session, url=url)
        assert "errorText" not in told, told
        self.browser.await_event("Page.loadEventFired", self.session)
        return time.monotonic() - begun

    def run(self, function: str, *given: Any) -> Any:
        """What a JavaScript function says in the page; a promise is awaited."""
        code = f"({function})({', '.join(map(json.dumps, given))})"
        how = {"expression": code, "returnByValue": True, "awaitPromise": True}
        told = self.browser.call("Runtime.evaluate", self.session, **how)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def seen_by(self, deficiency: str) -> None:
        """As somebody sees it with protanopia, deuteranopia, tritanopia or achromatopsia; none takes it back."""
        self.browser.call("Emulation.setEmulatedVisionDeficiency", self.session, type=deficiency)

    def picture(self, box: Box, scale: float = 1.0) -> bytes:
        """A PNG."""
        clip = dict(zip(("x", "y", "width", "height", "scale"), (*box, scale), strict=True))
        how = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        return base64.b64decode(self.browser.call("Page.captureScreenshot", self.session, **how)["data"])


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Browser]:
    """Its files and what it complains of are in the folder."""
    assert FOUND
    (theirs, says), (hears, answers) = (map(_high, os.pipe()) for _ in range(2))
    flags = (*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'browser'}")
    command = (*DYING_WITH_US, "bash", "-c", LED, "bash", str(theirs), str(answers), FOUND, *flags)
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen(command, pass_fds=(theirs, answers), stdout=log, stderr=log)
    os.close(theirs)
    os.close(answers)
    browser = Browser(hears, says)
    try:
        yield browser
        browser.call("Browser.close")
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        os.close(says)
        os.close(hears)


def _high(number: int) -> int:
    """Out of the way of 3 and 4."""
    found = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(number)
    return found
