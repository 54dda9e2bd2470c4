import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.converge.inventory import connection_variables, inventory, secrets, to_yaml
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Become, Connection, Host

PLAIN = Connection(host="gpu-1", address="192.0.2.7")
FULL = Connection(
    host="gpu-1",
    address="192.0.2.7",
    port=2222,
    user="ana",
    key_file="/home/ana/my keys/id",
    known_hosts=("/home/ana/known hosts", "/etc/site_known_hosts"),
    ssh_config="/home/ana/ssh config",
    use_agent=False,
    identities_only=True,
    connect_timeout=3.2,
    become=Become(enabled=True, method="doas", user="admin", password="s3cret {{ x }}"),
    password="login s3cret",
    python="/opt/python/bin/python3",
)


def options(connection: Connection) -> list[str]:
    return shlex.split(connection_variables(connection)["ansible_ssh_common_args"])


def host(connection: Connection) -> Host:
    return Host(name=connection.host, pool="train", target="onprem", connection=connection)


def test_every_field_of_a_connection_is_honoured() -> None:
    found = connection_variables(FULL)
    assert found["ansible_host"] == "192.0.2.7"
    assert found["ansible_port"] == 2222
    assert found["ansible_user"] == "ana"
    assert found["ansible_ssh_private_key_file"] == "/home/ana/my keys/id"
    assert found["ansible_ssh_timeout"] == 3
    assert found["ansible_become_method"] == "doas"
    assert found["ansible_become_user"] == "admin"
    assert found["ansible_python_interpreter"] == "/opt/python/bin/python3"
    words = options(FULL)
    assert words[words.index("-F") + 1] == "/home/ana/ssh config"
    assert 'UserKnownHostsFile="/home/ana/known hosts" "/etc/site_known_hosts"' in words
    assert "GlobalKnownHostsFile=/dev/null" in words
    assert "IdentityAgent=none" in words
    assert "IdentitiesOnly=yes" in words


def test_what_is_not_given_is_left_to_the_ssh_client() -> None:
    found = connection_variables(PLAIN)
    assert not {"ansible_port", "ansible_user", "ansible_ssh_private_key_file"} & set(found)
    assert "-F" not in options(PLAIN)
    assert not [word for word in options(PLAIN) if word.startswith(("UserKnownHosts", "ProxyCommand", "Identit"))]


def test_host_keys_are_always_checked() -> None:
    for connection in (PLAIN, FULL, replace(PLAIN, jump=(FULL_JUMP,))):
        assert "StrictHostKeyChecking=yes" in options(connection)


FULL_JUMP = replace(FULL, host="jump", address="jump.example", password=None)


def test_a_jump_host_keeps_its_own_user_key_and_known_hosts() -> None:
    words = options(replace(PLAIN, jump=(FULL_JUMP,)))
    command = next(word for word in words if word.startswith("ProxyCommand=")).removeprefix("ProxyCommand=")
    inner = shlex.split(command)
    assert inner[0] == "ssh"
    assert inner[-4:] == ["-W", "[%h]:%p", "--", "jump.example"]
    assert inner[inner.index("-p") + 1] == "2222"
    assert inner[inner.index("-l") + 1] == "ana"
    assert inner[inner.index("-i") + 1] == "/home/ana/my keys/id"
    assert 'UserKnownHostsFile="/home/ana/known hosts" "/etc/site_known_hosts"' in inner
    assert "StrictHostKeyChecking=yes" in inner


def test_a_chain_of_jump_hosts_is_nested_and_its_tokens_are_the_right_ssh_s() -> None:
    chain = (replace(PLAIN, host="a", address="a.example"), replace(PLAIN, host="b", address="b.example"))
    command = next(w for w in options(replace(PLAIN, jump=chain)) if w.startswith("ProxyCommand="))
    outer = shlex.split(command.removeprefix("ProxyCommand="))
    assert outer[-1] == "b.example"
    nested = next(w for w in outer if w.startswith("ProxyCommand=")).removeprefix("ProxyCommand=")
    # The ssh to b expands %% to %, and only then %h and %p, which are b's.
    assert shlex.split(nested)[-4:] == ["-W", "[%%h]:%%p", "--", "a.example"]


def test_a_jump_host_with_a_password_is_refused_by_name() -> None:
    with pytest.raises(GpuprovError) as caught:
        connection_variables(replace(PLAIN, jump=(replace(FULL_JUMP, password="x"),)))
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-INV-003", "jump")]


def test_a_local_connection_uses_no_ssh() -> None:
    found = connection_variables(replace(PLAIN, kind="local"))
    assert found["ansible_connection"] == "local"
    assert "ansible_ssh_common_args" not in found


def test_secrets_are_in_their_own_inventory_only() -> None:
    hosts = [host(FULL), host(replace(PLAIN, host="gpu-2"))]
    public = to_yaml(inventory(hosts, {"gpu-1": {}, "gpu-2": {}}, {}))
    assert "s3cret" not in public
    assert secrets(hosts) == {
        "all": {"hosts": {"gpu-1": {"ansible_password": "login s3cret", "ansible_become_password": "s3cret {{ x }}"}}}
    }
    assert secrets([host(PLAIN)]) is None


def read_by_ansible(text: str, folder: Path) -> Any:
    path = folder / "x.yml"
    path.write_text(text, encoding="utf-8")
    return DataLoader().load_from_file(str(path), cache="none", unsafe=False)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_ansible_reads_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    """A48: nothing in an inventory of ours is guessed into another type."""
    text = to_yaml({"value": value})
    found = read_by_ansible(text, tmp_path_factory.getbasetemp())
    expected = json.loads(json.dumps(value))
    assert found["value"] == expected


def test_text_of_a_user_is_no_template() -> None:
    assert to_yaml("{{ lookup('pipe', 'id') }}").startswith("!unsafe ")
    assert to_yaml(["a {% raw %}", "{# x #}"]).count("!unsafe") == 2
    assert to_yaml("braces { } are plain") == '"braces { } are plain"'
