"""Connections resolved against an ssh client configuration."""

from pathlib import Path

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Connection
from gpuprov.transport.route import Hop, resolve_route


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "more").write_text("Host inner\n Port 2200\n")
    path = tmp_path / "config"
    path.write_text(
        f"""Include {tmp_path}/more
Host inner
  HostName 10.0.0.%%.example
  User ops
  ProxyJump ana@bastion:2022,second
Host aliased
  HostName 10.9.9.9
  HostKeyAlias node-7
  Port 2222
  IdentitiesOnly yes
  IdentityFile /keys/%r-%h
  IdentityAgent none
Host proxied
  ProxyCommand nc %h %p
Host loop
  ProxyJump loop
Host bastion
  UserKnownHostsFile /known/bastion
"""
    )
    return path


def route(config: Path, address: str, **fields: object) -> tuple[Hop, ...]:
    connection = Connection(**({"host": "h", "address": address, "ssh_config": str(config)} | fields))
    return resolve_route(connection, {"SSH_AUTH_SOCK": "/agent"})


def test_a_plain_name_is_its_own_address(config: Path) -> None:
    (hop,) = route(config, "plain", user="me", key_file="/keys/mine")
    assert (hop.address, hop.port, hop.user, hop.known_as, hop.known_port) == ("plain", 22, "me", "plain", 22)
    assert hop.identity_files[0] == "/keys/mine"
    assert hop.chosen == ("/keys/mine",)
    assert hop.agent == "/agent"


def test_jump_hosts_of_the_configuration_come_in_order(config: Path) -> None:
    first, second, last = route(config, "inner")
    assert (first.address, first.port, first.user) == ("bastion", 2022, "ana")
    assert first.known_hosts[0] == "/known/bastion"
    assert second.address == "second"
    assert (last.port, last.user) == (2200, "ops")


def test_the_connections_own_fields_go_before_the_configuration(config: Path) -> None:
    jump = Connection(host="j", address="other", ssh_config=str(config))
    first, last = route(config, "inner", port=9, user="me", jump=(jump,), known_hosts=("/known/x",))
    assert first.address == "other"
    assert (last.port, last.user, last.known_hosts) == (9, "me", ("/known/x",))


def test_alias_identities_and_agent(config: Path) -> None:
    (hop,) = route(config, "aliased", user="me")
    assert (hop.address, hop.port, hop.known_as, hop.known_port) == ("10.9.9.9", 2222, "node-7", 22)
    assert hop.identities_only
    assert hop.identity_files == ("/keys/me-10.9.9.9",)
    assert hop.agent is None


def test_the_agent_can_be_switched_off(config: Path) -> None:
    assert route(config, "plain", use_agent=False)[0].agent is None


def test_a_proxy_command_of_the_users_own_configuration_is_kept(config: Path) -> None:
    assert route(config, "proxied")[0].proxy_command == "nc proxied 22"


def test_a_loop_of_jumps_ends(config: Path) -> None:
    with pytest.raises(GpuprovError) as caught:
        route(config, "loop")
    assert caught.value.diagnostics[0].code == "GP-INV-003"


def test_a_broken_configuration_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("Host x\n Nonsense yes\n")
    with pytest.raises(GpuprovError) as caught:
        route(tmp_path / "config", "x")
    told = caught.value.diagnostics[0]
    assert told.code == "GP-INV-003"
    assert "line 2" in told.detail
