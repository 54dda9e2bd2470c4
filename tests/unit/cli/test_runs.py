"""`runs` at the command line."""

import json
from pathlib import Path

import pytest

from gpuprov.cli.main import main
from gpuprov.store.journal import open_journal


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """The path of a spec in a folder with one run."""
    with open_journal(tmp_path / ".gpuprov", "up", target="onprem") as journal:
        journal.write("begin", "rollout", hosts=["a"])
        journal.write("end", "rollout", hosts={"a": "changed"})
        journal.result["status"] = 0
    return str(tmp_path / "gpuprov.yaml")


def test_all_runs_and_the_last_one(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "list", "-f", spec, "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["end"], run["status"], [host["state"] for host in run["hosts"]]) == ("done", 0, ["changed"])
    assert main(["runs", "show", "-f", spec, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["run"], [step["step"] for step in shown["steps"]]) == (run["run"], ["rollout"])
    assert main(["runs", "show", run["run"][-6:], "-f", spec]) == 0
    assert "a: changed and proven" in capsys.readouterr().out


def test_a_run_that_is_not_there(spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "show", "nothing", "-f", spec]) == 6
    assert "GP-RUN-008" in capsys.readouterr().err
    assert main(["runs", "list", "-f", str(tmp_path / "elsewhere" / "gpuprov.yaml")]) == 0
    assert capsys.readouterr().out == "no run yet\n"
