"""Commands over ssh: streams, statuses, sudo, time limits, lost connections, files."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Become
from gpuprov.transport.protocol import Transport
from gpuprov.transport.ssh import connect

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

# Stands for sudo on the server's side. The messages are those of sudo 1.9.13 (Debian 12); FAKE_SUDO chooses one.
SUDO = """\
#!/bin/sh
noninteractive=; prompt=; echo "$*" >>"$0.log"
while :; do case $1 in
  -n) noninteractive=1 ;; -S) ;; -H) ;; -p) prompt=$2; shift ;; -u) shift ;; --) shift; break ;; *) break ;;
esac; shift; done
echo 'sudo: unable to resolve host node: Name or service not known' >&2
case $(cat "$0.mode") in
  open) exec "$@" ;;
  stranger)
    echo 'op is not in the sudoers file.' >&2; exit 1 ;;
  password)
    if [ -n "$noninteractive" ]; then echo 'sudo: a password is required' >&2; exit 1; fi
    for try in 1 2 3; do
      printf '%s' "$prompt" >&2
      IFS= read -r given || { echo 'sudo: no password was provided' >&2; exit 1; }
      [ "$given" = right ] && exec "$@"
      echo 'Sorry, try again.' >&2
    done
    echo 'sudo: 3 incorrect password attempts' >&2; exit 1 ;;
esac
"""


@pytest.fixture
def host(start_server: Any, client: Any) -> Iterator[Any]:
    """A server whose sudo is SUDO, and a way to connect to it."""
    sudo = client.folder / "bin" / "sudo"
    sudo.parent.mkdir()
    sudo.write_text(SUDO)
    sudo.chmod(0o755)
    # The user is not root there, whoever runs the tests.
    identity = client.folder / "bin" / "id"
    identity.write_text("#!/bin/sh\necho 1000\n")
    identity.chmod(0o755)
    server = start_server(keys=[client.key], path=f"{sudo.parent}:{os.environ['PATH']}")
    client.knows(server)
    opened: list[Transport] = []

    class Host:
        folder = client.folder
        rules = server.rules
        logins = server.logins

        @staticmethod
        def connect(mode: str = "open", **become: Any) -> Transport:
            (client.folder / "bin" / "sudo.mode").write_text(mode)
            opened.append(connect(client.connection(server, become=Become(**become))))
            return opened[-1]

        @staticmethod
        def sudo_log() -> str:
            return (client.folder / "bin" / "sudo.log").read_text()

    yield Host
    for transport in opened:
        transport.close()


def refusal(transport: Transport, command: str = "true", **options: Any) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        transport.run(command, **({"timeout": 10.0, "root": False} | options))
    told = caught.value.diagnostics[0]
    assert told.hint, f"what to do is not said: {told}"
    return told


def test_streams_are_kept_apart_and_bytes_are_kept(host: Any) -> None:
    outcome = host.connect().run(r"printf '\377\000a'; printf '\r\n' >&2; exit 200", timeout=10)
    assert (outcome.status, outcome.stdout, outcome.stderr) == (200, b"\xff\x00a", b"\r\n")


def test_input_of_several_megabytes_goes_in_and_comes_out(host: Any) -> None:
    content = os.urandom(3_000_000)
    assert host.connect().run("cat", stdin=content, timeout=20).stdout == content


def test_a_command_that_reads_nothing_does_not_wait_for_its_input(host: Any) -> None:
    assert host.connect().run("exec <&-; echo done", stdin=b"x" * 1_000_000, timeout=10).stdout == b"done\n"


def test_a_signal_gives_128_and_its_number(host: Any) -> None:
    assert host.connect().run("kill -TERM $$", timeout=10).status == 143


def test_messages_are_english_whatever_the_host_is_set_to(host: Any) -> None:
    out = host.connect().run('echo "$LC_ALL ${LANGUAGE-unset}"', timeout=10).stdout
    assert out == b"C.UTF-8 unset\n"


def test_what_the_login_shell_prints_is_not_the_commands_output(host: Any) -> None:
    host.rules.shell = ["/bin/sh", "-c", 'echo "Welcome"; echo "news" >&2; eval "$0"']
    outcome = host.connect().run("echo mine; echo err >&2", timeout=10)
    assert (outcome.stdout, outcome.stderr) == (b"mine\n", b"err\n")


def test_a_shell_that_runs_nothing_is_told(host: Any) -> None:
    host.rules.shell = ["/bin/sh", "-c", "echo 'This account is currently not available.'; exit 1"]
    told = refusal(host.connect())
    assert told.code == "GP-SSH-002"
    assert "not available" in told.detail


@pytest.mark.parametrize("command", ["sleep 20", "trap '' TERM; sleep 20; sleep 20"])
def test_a_command_that_does_not_end_is_ended_in_time(host: Any, command: str) -> None:
    start = time.monotonic()
    told = refusal(host.connect(), command, timeout=1.0)
    assert told.code == "GP-SSH-006"
    assert "sleep 20" in told.detail
    assert time.monotonic() - start < 6


def test_a_command_may_itself_end_with_the_status_of_timeout(host: Any) -> None:
    assert host.connect().run("exit 124", timeout=10).status == 124


def test_a_connection_that_is_cut_is_told(host: Any) -> None:
    host.rules.cut_commands = True
    assert refusal(host.connect()).code == "GP-SSH-007"


def test_a_connection_that_is_cut_in_the_middle_is_told(host: Any) -> None:
    transport = host.connect()
    transport.run("true", timeout=10)
    for login in host.logins:
        login.close()
    time.sleep(0.2)
    assert refusal(transport).code == "GP-SSH-007"
    assert not transport.alive


def test_a_session_that_ends_without_a_status_is_told(host: Any) -> None:
    host.rules.no_status = True
    told = refusal(host.connect())
    assert told.code == "GP-SSH-007"
    assert "without a status" in told.summary


def test_sudo_without_a_password_never_asks(host: Any) -> None:
    transport = host.connect("open")
    outcome = transport.run("cat; echo root >&2", stdin=b"data", timeout=10, root=True)
    assert (outcome.stdout, outcome.stderr) == (b"data", b"root\n")
    assert "-n" in host.sudo_log().split()


def test_sudo_that_wants_a_password_is_told_at_once(host: Any) -> None:
    told = refusal(host.connect("password"), root=True)
    assert told.code == "GP-SSH-005"
    assert "needs a password, and none was given" in told.summary
    assert "--ask-become-pass" in told.hint


def test_the_password_goes_to_sudo_and_not_to_the_command(host: Any) -> None:
    outcome = host.connect("password", password="right").run("cat", stdin=b"data", timeout=10, root=True)
    assert (outcome.stdout, outcome.stderr) == (b"data", b"")
    assert "right" not in host.sudo_log()


def test_a_password_that_sudo_does_not_want_goes_nowhere(host: Any) -> None:
    assert host.connect("open", password="right").run("cat", stdin=b"data", timeout=10, root=True).stdout == b"data"


def test_a_wrong_password_is_told_and_tried_once(host: Any) -> None:
    start = time.monotonic()
    told = refusal(host.connect("password", password="wrong"), root=True)
    assert told.code == "GP-SSH-005"
    assert "refused the password" in told.summary
    assert "wrong" not in f"{told}"
    assert time.monotonic() - start < 5


def test_a_user_who_may_not_use_sudo_is_told(host: Any) -> None:
    for become in ({}, {"password": "right"}):
        told = refusal(host.connect("stranger", **become), root=True)
        assert told.code == "GP-SSH-005"
        assert "may not use sudo" in told.summary


def test_a_host_without_sudo_is_told(host: Any) -> None:
    (host.folder / "bin" / "sudo").unlink()
    host.rules.path = str(host.folder / "bin")
    for name in ("sh", "env", "timeout", "true"):
        (host.folder / "bin" / name).symlink_to(f"/usr/bin/{name}")
    told = refusal(host.connect(), root=True)
    assert told.code == "GP-SSH-005"
    assert "not installed" in told.summary


def test_become_that_is_switched_off_is_not_overruled(host: Any) -> None:
    told = refusal(host.connect(enabled=False), root=True)
    assert told.code == "GP-SSH-005"
    assert "ansible_become" in told.summary


def test_a_file_is_placed_whole_with_its_mode(host: Any, tmp_path: Path) -> None:
    path = tmp_path / "it's a file"
    path.write_text("old")
    host.connect().put(b"new\x00", str(path), mode=0o640)
    assert path.read_bytes() == b"new\x00"
    assert path.stat().st_mode & 0o7777 == 0o640
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".gpuprov")] == []


def test_a_file_that_cannot_be_placed_leaves_the_old_one_and_no_rest(host: Any, tmp_path: Path) -> None:
    target = tmp_path / "folder"
    (target / "inside").mkdir(parents=True)
    with pytest.raises(GpuprovError) as caught:
        host.connect().put(b"new", str(target / "none" / "x"), mode=0o644)
    assert caught.value.diagnostics[0].code == "GP-DOC-007"
    with pytest.raises(GpuprovError) as caught:
        host.connect().put(b"x" * 4_000_000, "/dev/full/x", mode=0o644)
    assert caught.value.diagnostics[0].code == "GP-DOC-007"
