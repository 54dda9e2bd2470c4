"""Connection variables: honoured or refused, each by its name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.provision.variables import read_connection

FOLDER = Path(__file__).parents[2] / "cases" / "provision"
HONOURED = yaml.safe_load((FOLDER / "connections.yaml").read_text())
REFUSED = yaml.safe_load((FOLDER / "refused.yaml").read_text())


def field(connection: Any, path: str) -> Any:
    if path == "jump":
        return [[j.address, j.port, j.user, j.ssh_config] for j in connection.jump]
    for name in path.split("."):
        connection = getattr(connection, name)
    if isinstance(connection, str):
        return connection.replace(str(Path("~").expanduser()), "HOME").replace(str(Path.cwd()), "HERE")
    return list(connection) if isinstance(connection, tuple) else connection


@pytest.mark.parametrize("case", HONOURED, ids=lambda c: c["id"])
def test_a_variable_is_honoured(case: dict[str, Any]) -> None:
    told: list[Diagnostic] = []
    connection = read_connection("node1", case["variables"], told)
    assert told == []
    assert {path: field(connection, path) for path in case["expect"]} == case["expect"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda c: c["id"])
def test_a_variable_is_refused_by_name(case: dict[str, Any]) -> None:
    told: list[Diagnostic] = []
    read_connection("node1", case["variables"], told)
    assert told
    assert {d.code for d in told} == {"GP-INV-003"}
    assert {d.address for d in told} == {"node1"}
    text = "\n".join(f"{d.summary} {d.hint}" for d in told)
    assert [word for word in case["words"] if word not in text] == []


def test_no_secret_is_in_a_message_or_a_repr() -> None:
    told: list[Diagnostic] = []
    connection = read_connection(
        "n", {"ansible_password": "hunter2", "ansible_become_password": "{{ hunter2 }}", "ansible_port": "x"}, told
    )
    assert "hunter2" not in f"{told} {connection!r}"
    assert connection.become.password == "{{ hunter2 }}"
