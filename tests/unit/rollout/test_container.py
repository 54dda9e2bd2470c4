"""The container of the proof: what its image holds, and what the engine is asked, over a socket of the test's own."""

import io
import json
import socketserver
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import pytest

from gpuprov.rollout import container_script


class Engine(BaseHTTPRequestHandler):
    """Answers as dockerd does; `asked` keeps what it was asked."""

    asked: ClassVar[list[str]] = []
    runtime = True
    status = 0

    def do_DELETE(self) -> None:
        self._answer(404, b'{"message": "no such thing"}')

    def do_GET(self) -> None:
        line = b"GPU 0: NVIDIA H100 (UUID: GPU-1)\n"
        self._answer(200, b"\x01\0\0\0" + len(line).to_bytes(4, "big") + line)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if "create?name" in self.path and json.loads(body)["HostConfig"]["Runtime"] == "nvidia" and not self.runtime:
            self._answer(400, b'{"message": "unknown or invalid runtime name: nvidia"}')
        else:
            self._answer(200, json.dumps({"StatusCode": self.status}).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.asked.append(f"{self.command} {self.path.partition('?')[0]}")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def address_string(self) -> str:
        return "unix"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Engine]]:
    answers = type("Answers", (Engine,), {"asked": []})
    path = str(tmp_path / "s")
    monkeypatch.setattr(container_script, "SOCKET", path)
    with socketserver.ThreadingUnixStreamServer(path, answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield answers
        server.shutdown()
        thread.join()


def test_the_gpus_that_a_container_lists_are_printed(engine: type[Engine], capsys: pytest.CaptureFixture[str]) -> None:
    assert container_script.main() == 0
    assert capsys.readouterr().out == "GPU 0: NVIDIA H100 (UUID: GPU-1)\n"
    kept = [line for line in engine.asked if not line.startswith("DELETE")]
    assert kept[0] == "POST /images/create"
    assert engine.asked[-2:] == ["DELETE /containers/gpuprov-proof", "DELETE /images/gpuprov-proof"]


def test_the_containers_own_status_counts(engine: type[Engine]) -> None:
    engine.status = 6
    assert container_script.main() == 6


def test_the_engines_words_are_told_and_nothing_is_left(
    engine: type[Engine], capsys: pytest.CaptureFixture[str]
) -> None:
    engine.runtime = False
    assert container_script.main() == 125
    assert "unknown or invalid runtime name: nvidia" in capsys.readouterr().err
    assert engine.asked[-1] == "DELETE /images/gpuprov-proof"


def test_an_engine_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(container_script, "SOCKET", str(tmp_path / "nothing"))
    assert container_script.main() == 125
    assert capsys.readouterr().err


def test_the_image_holds_a_shell_that_can_start() -> None:
    with tarfile.open(fileobj=io.BytesIO(container_script.image())) as tar:
        names = {member.name: member for member in tar.getmembers()}
    # By the name that scripts give it, also where /bin is a link.
    assert names["bin/sh"].isfile(), "the file itself, not a link that leads out of the image"
    assert [name for name in names if "libc.so" in name]
    assert [name for name in names if "ld-" in name], "the loader, without which nothing starts"
