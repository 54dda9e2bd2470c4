"""The script itself, run by this machine's own sh: frames, time limits, secrets, and nothing left behind."""

import base64
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gpuprov.model.fact import Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, fixed, observe
from gpuprov.probe.collectors import BY_NAME, COLLECTORS
from gpuprov.probe.recording import BrokenOutputError, split_output
from gpuprov.probe.redaction import redaction_script
from gpuprov.probe.request import ProbeRequest
from gpuprov.probe.script import WRAPPER, build_script

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

TOKEN = "@test"


def row(name: str, command: str, limit: int = 5) -> Collector:
    return Collector(name=name, command=fixed(command), gives=(), parse=lambda _o, _r: {}, limit=limit)


def run(
    collectors: Sequence[Collector],
    request: ProbeRequest | None = None,
    *,
    limit: int = 10,
    environment: dict[str, str] | None = None,
) -> dict[str, tuple[str, str, int]]:
    script = build_script(collectors, request or ProbeRequest(), token=TOKEN, limit=limit)
    done = subprocess.run(
        ["/bin/sh", "-c", WRAPPER],
        input=script.encode(),
        capture_output=True,
        check=False,
        timeout=25,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stderr
    return split_output(done.stdout.decode("utf-8", "replace"), TOKEN)[0]


@pytest.mark.parametrize("limit", [0, 5])
def test_both_streams_and_the_status_come_back_exactly(limit: int) -> None:
    seen = run(
        [
            row("plain", "echo out; echo err >&2; exit 3", limit),
            row("bare", "printf 'no newline'; printf '\\n\\n' >&2", limit),
            row("empty", ":", limit),
            row("input", "cat; echo read", limit),
            row("killed", "sh -c 'kill -9 $$'", 5),
        ]
    )
    assert seen["plain"] == ("out\n", "err\n", 3)
    assert seen["bare"] == ("no newline", "\n\n", 0)
    assert seen["empty"] == ("", "", 0)
    assert seen["input"] == ("read\n", "", 0)
    assert seen["killed"][2] == 137
    assert list(seen) == ["plain", "bare", "empty", "input", "killed"]


def test_a_collector_that_hangs_is_ended_and_costs_the_others_nothing() -> None:
    start = time.monotonic()
    seen = run([row("hangs", "sleep 20", 1), row("works", "echo yes")])
    assert time.monotonic() - start < 8
    assert seen["hangs"][2] == 124
    assert seen["works"] == ("yes\n", "", 0)


def test_what_a_hung_collector_started_is_ended_with_it(tmp_path: Path) -> None:
    name = tmp_path / "pids"
    hangs = f"sleep 30 & echo $! >>{name}; sh -c 'sleep 31 & echo $! >>{name}; wait'; wait"
    seen = run([row("ended", "exit 3", 1), row("hangs", hangs, 1), row("slow", "sleep 2; echo done", 5)])
    assert seen["ended"][2] == 3
    assert seen["hangs"][2] == 124
    assert seen["slow"] == ("done\n", "", 0)
    pids = name.read_text().split()
    assert len(pids) == 2
    # Where nobody waits for orphans, an ended one is still listed, as a zombie.
    states = [state.read_text() for pid in pids if (state := Path(f"/proc/{pid}/stat")).exists()]
    assert not [state for state in states if state.rpartition(")")[2].split()[0] != "Z"]


def test_a_secret_in_what_a_command_says_of_an_error_does_not_travel() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----"
    seen = run([row("cut", f"echo '{key}'; echo abc"), row("next", "echo 'x: token=abc' >&2; echo plain")])
    assert seen["cut"] == ("***\n***\n***", "", 0)
    assert seen["next"] == ("plain\n", "x: token=***\n", 0)


def test_a_collector_that_cannot_be_ended_is_given_up(tmp_path: Path) -> None:
    # A command that hangs in the kernel does not mind signals: here the script's `kill` does nothing. The host has few
    # programs, and no timeout(1).
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cat", "grep", "mktemp", "mkfifo", "rm", "sed", "sleep", "sh"):
        (tools / name).symlink_to(subprocess.check_output(["/bin/sh", "-c", f"command -v {name}"], text=True).strip())
    script = build_script([row("hangs", "sleep 4; :"), row("works", "echo yes")], ProbeRequest(), token=TOKEN, limit=1)
    for text, other in (
        ("PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:${PATH:-}", f"PATH={tools}"),
        ("  kill $found", "  : "),
        ("  kill -9 $found", "  : "),
    ):
        assert text in script
        script = script.replace(text, other)
    start = time.monotonic()
    done = subprocess.run(["/bin/sh", "-c", WRAPPER], input=script.encode(), capture_output=True, check=True)
    assert time.monotonic() - start < 3.5
    seen, seconds = split_output(done.stdout.decode(), TOKEN)
    assert seen["hangs"][2] == 124
    assert seen["works"] == ("yes\n", "", 0)
    assert 0.9 < seconds < 3.5


def test_nothing_is_left_behind() -> None:
    before = {path for place in ("/dev/shm", "/run", "/tmp", "/var/tmp") for path in Path(place).glob("gpuprov.??????")}
    run([row("x", "echo x")])
    after = {path for place in ("/dev/shm", "/run", "/tmp", "/var/tmp") for path in Path(place).glob("gpuprov.??????")}
    assert after <= before


def test_messages_are_english_whatever_the_host_is_set_to() -> None:
    seen = run(
        [row("x", 'echo "$LC_ALL ${LANGUAGE-unset}"')], environment={"LANGUAGE": "de_DE", "LC_ALL": "fr_FR.ISO-8859-1"}
    )
    assert seen["x"][0] == "C.UTF-8 unset\n"


def test_output_that_was_cut_is_refused() -> None:
    script = build_script([row("x", "echo x")], ProbeRequest(), token=TOKEN, limit=5)
    done = subprocess.run(["/bin/sh", "-c", WRAPPER], input=script.encode(), capture_output=True, check=True)
    text = done.stdout.decode()
    split_output(text, TOKEN)
    for end in (0, len(text) // 2, text.rindex(TOKEN)):
        with pytest.raises(BrokenOutputError):
            split_output(text[:end], TOKEN)


def test_what_a_login_shell_prints_before_is_passed_over() -> None:
    script = build_script([row("x", "echo x")], ProbeRequest(), token=TOKEN, limit=5)
    done = subprocess.run(["/bin/sh", "-c", WRAPPER], input=script.encode(), capture_output=True, check=True)
    assert split_output("Welcome!\n" + done.stdout.decode(), TOKEN)[0]["x"] == ("x\n", "", 0)


SECRETS = [
    ("http://user:pa@ss@proxy.example:3128/x", "http://***@proxy.example:3128/x"),
    ("deb https://token-only@repo.example/ubuntu jammy main", "deb https://***@repo.example/ubuntu jammy main"),
    ('{"http-proxy": "http://u:p@h:1"}', '{"http-proxy": "http://***@h:1"}'),
    ('{"Password": "a \\"b\\" c", "n": 1}', '{"Password": "***", "n": 1}'),
    ('{"apiToken": 12345, "n": 1}', '{"apiToken": "***", "n": 1}'),
    ("Environment=DB_PASSWORD=hunter2 OTHER=1", "Environment=DB_PASSWORD=*** OTHER=1"),
    ("Environment='AWS_SECRET_ACCESS_KEY=abc/def+g'", "Environment='AWS_SECRET_ACCESS_KEY=***'"),
    ("api-key: abcdef", 'api-key: "***"'),
    ("secret = 'x y'", "secret = '***'"),
    ("https://h.example/x?token=abc&y=2", "https://h.example/x?token=***&y=2"),
    ("Authorization: Bearer abc.def", "Authorization: ***"),
    ('{"auths": {"r.example": {"auth": "dXNlcjpwYXNz"}}}', '{"auths": {"r.example": {"auth": "***"}}}'),
    ('{"data-root": "/data/d", "hosts": ["unix:///var/run/docker.sock"]}', None),
    ("Signed-By: /etc/apt/keyrings/gpuprov-nvidia.asc", None),
    ("see https://example.org/a@b", None),
    ("%ml ALL=(root) NOPASSWD: /usr/bin/nvidia-smi, NOPASSWD:/bin/ls", None),
]


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_secrets_are_replaced_by_this_machines_sed(text: str, expected: str | None) -> None:
    done = subprocess.run(["sed", "-E", redaction_script()], input=text, capture_output=True, text=True, check=True)
    assert done.stdout == (text if expected is None else expected)


def test_a_private_key_is_replaced_line_by_line() -> None:
    text = "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\nb\n"
    done = subprocess.run(["sed", "-E", redaction_script()], input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "a\n***\n***\n***\nb\n"


def test_a_secret_in_a_file_does_not_travel_but_its_digest_is_the_files_own(tmp_path: Path) -> None:
    path = tmp_path / 'it\'s "here"'
    path.write_text('{"proxies": {"http-proxy": "http://u:hunter2@h:1"}}\n')
    path.chmod(0o600)
    collector = BY_NAME["files"]
    seen = run([collector], ProbeRequest(paths=(str(path),)))
    out, err, status = seen["files"]
    assert "hunter2" not in out
    assert base64.b64encode(path.read_bytes()).decode() not in out
    recording = Recording(
        host="h",
        os="",
        arch="",
        taken="",
        collectors={"files": CollectorOutput(command="", stdout=out, stderr=err, status=status)},
    )
    found = {a.rpartition(".")[2]: o for a, o in observe(collector, recording).items() if a != "file[*]"}
    assert found["text"] == Known('{"proxies": {"http-proxy": "http://***@h:1"}}\n')
    assert found["mode"] == Known("0600")
    digest = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.lstrip("\\")[:64]
    assert found["sha256"] == Known(digest)


def test_every_real_collector_ends_on_this_machine() -> None:
    seen = run(COLLECTORS, ProbeRequest(paths=("/etc/passwd",)), limit=20)
    assert list(seen) == [c.name for c in COLLECTORS]
    outputs = {n: CollectorOutput(command="", stdout=o, stderr=e, status=s) for n, (o, e, s) in seen.items()}
    recording = Recording(host="h", os="", arch="", taken="", collectors=outputs)
    for name in ("name", "os", "arch", "kernel", "boot", "packages", "sources", "files", "pci", "loaded", "module"):
        found = observe(BY_NAME[name], recording)
        unknown = {a: o for a, o in found.items() if isinstance(o, Unknown) and not a.endswith("[*]")}
        assert unknown == {}, name


@pytest.mark.parametrize(
    ("engine", "client", "expected"),
    [
        ("runs", "printf 'runtime runc\\nruntime kata\\n\\n'", Known(["kata"])),
        ("runs", "echo 'error permission denied'; echo", "permission denied"),
        ("runs", "echo 'Is the docker daemon running?' >&2; exit 1", "Is the docker daemon running?"),
        ("stopped", "echo 'runtime never-asked'", Known(["nvidia"])),
    ],
)
def test_a_running_engine_is_asked_for_its_runtimes_and_a_stopped_ones_file_is_read(
    tmp_path: Path, engine: str, client: str, expected: object
) -> None:
    (tmp_path / "dockerd").symlink_to(shutil.which("sleep") or "/bin/sleep")  # the kernel names it for the link
    (tmp_path / "docker").write_text(f"#!/bin/sh\n{client}\n")
    (tmp_path / "docker").chmod(0o755)
    (tmp_path / "daemon.json").write_text('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}')
    collector = BY_NAME["runtimes"]
    command = collector.command(ProbeRequest())
    for path, name in (
        ("/run/docker.pid", "pid"),
        ("/etc/docker/daemon.json", "daemon.json"),
        ("/run/systemd/system", "none"),
    ):
        command = command.replace(path, str(tmp_path / name))
    command = f"PATH={tmp_path}:$PATH; {command}"
    daemon = subprocess.Popen([tmp_path / "dockerd", "60"])
    try:
        (tmp_path / "pid").write_text(str(daemon.pid if engine == "runs" else os.getpid()))
        out, err, status = run([row("runtimes", command, limit=8)])["runtimes"]
    finally:
        daemon.kill()
        daemon.wait()
    recorded = CollectorOutput(command="", stdout=out, stderr=err, status=status)
    recording = Recording(host="h", os="", arch="", taken="", collectors={"runtimes": recorded})
    found = observe(collector, recording)["stack.container.runtimes"]
    if isinstance(expected, Known):
        assert found == expected
    else:
        assert isinstance(found, Unknown)
        assert str(expected) in found.reason
