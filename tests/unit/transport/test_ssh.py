"""Connecting: host keys, logins, jump hosts and what their failures say."""

import base64
import hashlib
import hmac
import socket
import subprocess
import sys
import time
from typing import Any

import paramiko
import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection
from gpuprov.transport.known_hosts import fingerprint
from gpuprov.transport.ssh import connect


def refusal(connection: Connection, **options: object) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        connect(connection, **options)
    told = caught.value.diagnostics[0]
    assert told.hint, f"what to do is not said: {told}"
    return told


def test_a_known_host_with_an_accepted_key_runs_commands(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    client.knows(server)
    transport = connect(client.connection(server))
    outcome = transport.run("echo out; echo err >&2; exit 7", timeout=10)
    transport.close()
    assert (outcome.status, outcome.stdout, outcome.stderr) == (7, b"out\n", b"err\n")


def test_an_unknown_host_key_is_refused_with_its_fingerprint_and_the_way_on(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    told = refusal(client.connection(server))
    assert told.code == "GP-SSH-004"
    assert fingerprint(server.host_key.asbytes()) in told.detail
    assert f"ssh-keyscan -p {server.port} 127.0.0.1 >> {client.known_hosts}" in told.hint
    assert not server.rules.password
    assert not client.known_hosts.exists()


def test_a_changed_host_key_names_file_and_line_and_never_tries_a_login(start_server: Any, client: Any) -> None:
    """A49."""
    server = start_server(keys=[client.key])
    other = paramiko.ECDSAKey.generate()
    client.known_hosts.write_text(f"# a comment\n\n[127.0.0.1]:{server.port} {other.get_name()} {other.get_base64()}\n")
    told = refusal(client.connection(server))
    assert told.code == "GP-SSH-003"
    assert f"{client.known_hosts}:3" in told.summary
    assert fingerprint(other.asbytes()) in told.detail
    assert fingerprint(server.host_key.asbytes()) in told.detail
    assert all(not t.is_authenticated() for t in server.logins)


def test_a_revoked_host_key_is_refused(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    client.known_hosts.write_text(server.line() + "@revoked * " + server.line().split(" ", 1)[1])
    told = refusal(client.connection(server))
    assert told.code == "GP-SSH-003"
    assert "revoked" in told.summary


def test_a_hashed_entry_is_found(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    salt = b"0123456789abcdefghij"
    digest = hmac.new(salt, f"[127.0.0.1]:{server.port}".encode(), hashlib.sha1).digest()
    name = f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
    client.known_hosts.write_text(server.line(name))
    transport = connect(client.connection(server))
    assert transport.run("true", timeout=10).status == 0
    transport.close()


def test_a_refused_key_is_told_with_everything_that_was_tried(start_server: Any, client: Any) -> None:
    server = start_server()
    client.knows(server)
    told = refusal(client.connection(server))
    assert told.code == "GP-SSH-002"
    assert f"key file {client.key_file}" in told.detail
    assert fingerprint(client.key.asbytes()) in told.detail
    assert "accepts: publickey" in told.detail


def test_a_missing_key_file_is_told(start_server: Any, client: Any) -> None:
    server = start_server()
    client.knows(server)
    told = refusal(client.connection(server, key_file=str(client.folder / "nokey")))
    assert told.code == "GP-SSH-002"
    assert "nokey: no such file" in told.detail


def test_an_encrypted_key_file_without_agent_is_told(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    client.knows(server)
    client.key_file.unlink()
    client.key.write_private_key_file(str(client.key_file), password="secret")
    told = refusal(client.connection(server))
    assert told.code == "GP-SSH-002"
    assert "needs a passphrase" in told.detail


def test_a_host_that_cuts_the_login_is_told_apart(start_server: Any, client: Any) -> None:
    server = start_server(max_tries=1)
    client.knows(server)
    told = refusal(client.connection(server))
    assert told.code == "GP-SSH-002"
    assert "IdentitiesOnly" in told.hint


def test_a_password_is_used_when_keys_are_refused(start_server: Any, client: Any) -> None:
    server = start_server(password="right")
    client.knows(server)
    transport = connect(client.connection(server, password="right"))
    assert transport.run("true", timeout=10).status == 0
    transport.close()
    told = refusal(client.connection(server, password="wrong"))
    assert told.code == "GP-SSH-002"
    assert "wrong" not in f"{told}"
    assert "password: refused" in told.detail


def test_a_closed_port_is_refused_at_once(start_server: Any, client: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = start_server()
    told = refusal(client.connection(server, port=port))
    assert told.code == "GP-SSH-001"
    assert "refused" in told.summary


def test_a_name_that_nobody_knows_is_told(start_server: Any, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    connection = client.connection(start_server(), address="no-such-host.invalid")
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    told = refusal(connection)
    assert told.code == "GP-SSH-001"
    assert "not known" in told.summary


def test_a_server_that_never_speaks_is_given_up_in_time(start_server: Any, client: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        start = time.monotonic()
        told = refusal(client.connection(start_server(), port=listener.getsockname()[1]), timeout=0.5)
    assert told.code == "GP-SSH-001"
    assert time.monotonic() - start < 5


def test_a_jump_host_leads_to_the_host_and_its_own_key_is_checked(start_server: Any, client: Any) -> None:
    jump, server = start_server(keys=[client.key]), start_server(keys=[client.key])
    client.knows(jump, server)
    client.config.write_text(
        f"Host jump\n HostName 127.0.0.1\n Port {jump.port}\n User op\n IdentityFile {client.key_file}\n"
        f" UserKnownHostsFile {client.known_hosts}\n"
        f"Host inner\n HostName 127.0.0.1\n Port {server.port}\n User op\n ProxyJump jump\n"
    )
    connection = client.connection(server, address="inner", port=22, user=None)
    transport = connect(connection)
    assert transport.run("echo through", timeout=10).stdout == b"through\n"
    transport.close()
    assert jump.forwarded == [("127.0.0.1", server.port)]
    client.knows(server)
    jump.rules.keys.clear()
    again = connect(connection)  # the jump host's connection is shared
    again.close()
    assert len(jump.logins) == 1


def test_an_unknown_key_of_the_jump_host_is_told_with_the_jump_hosts_name(start_server: Any, client: Any) -> None:
    jump, server = start_server(keys=[client.key]), start_server(keys=[client.key])
    client.knows(server)
    hop = client.connection(jump, host="bastion")
    told = refusal(client.connection(server, jump=(hop,)))
    assert (told.code, told.address) == ("GP-SSH-004", "bastion")


def test_the_users_ssh_configuration_gives_name_port_user_and_key(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    client.knows(server)
    extra = client.folder / "more"
    extra.write_text(
        f"Host alias\n HostName 127.0.0.1\n Port {server.port}\n User op\n IdentityFile {client.key_file}\n"
    )
    client.config.write_text(f"Include {extra}\nHost *\n UserKnownHostsFile {client.known_hosts}\n")
    transport = connect(Connection(host="node", address="alias", ssh_config=str(client.config), use_agent=False))
    assert transport.run("true", timeout=10).status == 0
    transport.close()


def test_a_proxy_command_of_the_users_configuration_is_run(start_server: Any, client: Any) -> None:
    server = start_server(keys=[client.key])
    client.knows(server)
    relay = client.folder / "relay.py"
    relay.write_text(
        "import os, socket, sys, threading\n"
        "link = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "def out():\n"
        "    while data := link.recv(65536): os.write(1, data)\n"
        "    os._exit(0)\n"
        "threading.Thread(target=out, daemon=True).start()\n"
        "while data := os.read(0, 65536): link.sendall(data)\n"
    )
    client.config.write_text(f"Host *\n ProxyCommand {sys.executable} {relay} %h %p\n")
    transport = connect(client.connection(server))
    assert transport.run("echo relayed", timeout=10).stdout == b"relayed\n"
    transport.close()


def test_the_known_key_type_is_the_one_that_is_negotiated(start_server: Any, client: Any) -> None:
    rsa = paramiko.RSAKey.generate(2048)
    server = start_server(keys=[client.key], more_keys=[rsa])
    client.known_hosts.write_text(f"[127.0.0.1]:{server.port} {rsa.get_name()} {rsa.get_base64()}\n")
    transport = connect(client.connection(server))
    assert transport.run("true", timeout=10).status == 0
    transport.close()


def test_importing_the_room_does_not_import_paramiko() -> None:
    code = "import sys, gpuprov.transport.ssh, gpuprov.transport.pool; sys.exit('paramiko' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
