"""A headless Chromium, spoken to in its own protocol over a pipe: what it loads, logs and shows of a page."""

import json
import os
import selectors
import shutil
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-default-browser-check",
    "--window-size=1280,900", "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 60


class Browser:
    """One page of a running Chromium."""

    def __init__(self, commands: int, events: int) -> None:
        """Take the two ends of the pipes."""
        self._commands, self._events = commands, events
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.seen: list[dict[str, Any]] = []
        """Everything that the browser told without being asked, in order."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command and wait for its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.seen.append(answer)

    def open(self, url: str) -> None:
        """Load a page and wait until all of it is there."""
        self.seen.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + SECONDS
        while not self.told("Page.loadEventFired"):
            self.seen.append(self._next(deadline))

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """What was told by some events since the page was opened."""
        return [event["params"] for event in self.seen if event.get("method") in methods]

    def value(self, expression: str) -> Any:
        """The value of an expression in the page; a promise's is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(b64decode(data))

    def _next(self, deadline: float) -> dict[str, Any]:
        with selectors.DefaultSelector() as ready:
            ready.register(self._events, selectors.EVENT_READ)
            while b"\0" not in self._rest:
                assert ready.select(deadline - time.monotonic()), f"no answer within {SECONDS} s"
                data = os.read(self._events, 1 << 16)
                assert data, "the browser ended"
                self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """Start a browser with a new profile; it ends with the block.

    Args:
        folder: for the profile, and what the browser writes on stderr.
    """
    program = next((found for name in PROGRAMS if (found := shutil.which(name)) is not None), None)
    assert program is not None, f"no browser is installed: none of {', '.join(PROGRAMS)} (`apt-get install chromium`)"
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    with (folder / "browser.log").open("wb") as log:
        # Chromium reads commands from descriptor 3 and writes to 4; bash puts the pipes there (dash has none above 9).
        shell = ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", program, *FLAGS]
        process = subprocess.Popen(
            [*shell, f"--user-data-dir={folder / 'profile'}"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_out, ours_in)
    finally:
        os.close(ours_out)
        os.close(ours_in)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
