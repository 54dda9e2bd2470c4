import threading
from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest

from gpuprov.lab.serve import _Handler, _Server


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, int]]:
    (tmp_path / "Packages").write_text("Package: x\n")
    with _Server(("127.0.0.1", 0), partial(_Handler, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield "127.0.0.1", server.server_address[1]
        server.shutdown()
        thread.join()


def test_files_are_served_and_each_request_is_logged(
    address: tuple[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    link = HTTPConnection(*address, timeout=5)
    link.request("GET", "/Packages")
    answer = link.getresponse()
    assert (answer.status, answer.version, answer.read()) == (200, 11, b"Package: x\n")
    link.request("GET", "/none")
    answer = link.getresponse()
    assert answer.status == 404
    answer.read()
    link.close()
    log = capsys.readouterr().out
    assert '"GET /Packages HTTP/1.1" 200' in log
    assert '"GET /none HTTP/1.1" 404' in log
