"""`stop` and `start` at the command line: what is shown, asked and returned."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from click.testing import CliRunner

from gpuprov.app.power import Power
from gpuprov.cli.commands import start, stop
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.power import PowerHost

ON = PowerHost(
    name="train-a", pool="train", instance="i-1", state="running", drained="slurm, up to 1h", loses=True
)  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    answers: list[bool] = []

    def stopped(_path: Any, names: Sequence[str], _access: Any, *, agree: Any, **_: Any) -> Power:
        assert names == ("train",)
        answers.append(agree([ON]))
        return Power(hosts=(PowerHost(name="train-a", pool="train", instance="i-1", state="stopped"),))

    monkeypatch.setattr(stop, "stop", stopped)
    return answers


def test_with_yes_it_is_shown_what_goes_and_not_asked(asked: list[bool]) -> None:
    done = CliRunner().invoke(stop.command, ["train", "--yes"], standalone_mode=False)
    assert (done.return_value, asked) == (0, [True])
    assert "train-a (train): work goes off first, by slurm, up to 1h; what is on its local disks is lost" in done.output
    assert "train-a  train  stopped" in done.output


def test_without_a_terminal_and_yes_nothing_is_stopped(asked: list[bool]) -> None:
    done = CliRunner().invoke(stop.command, ["train"], standalone_mode=False)
    assert isinstance(done.exception, GpuprovError)
    assert done.exception.diagnostics[0].code == "GP-RUN-002"
    assert asked == []


def test_json_holds_hosts_and_status(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Diagnostic(code="GP-CLOUD-016", address="train-a", summary="not ready")
    monkeypatch.setattr(start, "start", lambda *_, **__: Power(hosts=(ON,), diagnostics=(late,)))
    done = CliRunner().invoke(start.command, ["train-a", "--json"], standalone_mode=False)
    body = json.loads(done.stdout)
    assert body["status"] == done.return_value != 0
    assert body["hosts"] == [{"host": "train-a", "pool": "train", "instance": "i-1", "state": "running"}]
    assert [row["code"] for row in body["diagnostics"]] == ["GP-CLOUD-016"]


@pytest.mark.parametrize("command", [stop.command, start.command])
def test_a_host_must_be_named(command: Any) -> None:
    assert CliRunner().invoke(command, []).exit_code == 2
