import socket

import pytest

from gpuprov.lab.aws import services
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError


def test_a_port_is_free_until_somebody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not services.free_port(port)
    assert services.free_port(port)


def test_a_missing_library_is_named_with_two_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    services.require_libraries()
    monkeypatch.setattr(services, "_LIBRARIES", ("json", "no_such_library"))
    with pytest.raises(GpuprovError) as caught:
        services.require_libraries()
    (told,) = caught.value.diagnostics
    assert "no_such_library" in told.summary
    assert "json" not in told.summary
    assert "gpuprov[lab]" in told.hint
    assert "--no-cloud" in told.hint


def test_a_service_that_does_not_come_is_an_error_with_the_end_of_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr("gpuprov.lab.names.ROOT", tmp_path)
    monkeypatch.setattr(services, "_SECONDS", 0.0)
    lab = draw(3)
    assert lab.cloud is not None
    folder = services.LabNames(lab.id).cloud_folder
    folder.mkdir(parents=True)
    (folder / "server.log").write_text("ImportError: why")
    (folder / "plugin.log").write_text("fine")
    monkeypatch.setattr(services, "answers", lambda _host, port: port == lab.cloud.plugin_port)
    with pytest.raises(GpuprovError) as caught:
        services.wait_services(lab)
    (told,) = caught.value.diagnostics
    assert "AWS's API" in told.summary
    assert told.detail == "ImportError: why"
    monkeypatch.setattr(services, "answers", lambda _host, _port: True)
    services.wait_services(lab)
