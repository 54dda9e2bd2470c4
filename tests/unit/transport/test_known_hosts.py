"""What known_hosts files say, by the rules of sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"."""

import base64
import subprocess
from pathlib import Path

import pytest

from gpuprov.transport.known_hosts import (
    Verdict,
    fingerprint,
    judge_key,
    order_algorithms,
    parse_known_hosts,
    read_known_hosts,
)


def blob(text: str, key_type: str = "ssh-ed25519") -> bytes:
    return len(key_type).to_bytes(4, "big") + key_type.encode() + text.encode()


def line(hosts: str, text: str, key_type: str = "ssh-ed25519", marker: str = "") -> str:
    return f"{marker} {hosts} {key_type} {base64.b64encode(blob(text, key_type)).decode()} comment\n".lstrip()


@pytest.mark.parametrize(
    ("text", "name", "port", "verdict"),
    [
        (line("a.example", "k"), "a.example", 22, Verdict.KNOWN),
        (line("A.Example", "k"), "a.example", 22, Verdict.KNOWN),
        (line("x,a.example", "k"), "a.example", 22, Verdict.KNOWN),
        (line("*.example", "k"), "a.example", 22, Verdict.KNOWN),
        (line("a?.example", "k"), "a1.example", 22, Verdict.KNOWN),
        (line("*.example,!a.example", "k"), "a.example", 22, Verdict.UNKNOWN),
        (line("[a.example]:2222", "k"), "a.example", 2222, Verdict.KNOWN),
        (line("[a.example]:2222", "k"), "a.example", 22, Verdict.UNKNOWN),
        (line("a.example", "k"), "a.example", 2222, Verdict.KNOWN),
        (line("a.example", "other"), "a.example", 2222, Verdict.UNKNOWN),
        (line("a.example", "other"), "a.example", 22, Verdict.CHANGED),
        (line("[a.example]:2222", "other"), "a.example", 2222, Verdict.CHANGED),
        (line("a.example", "other") + line("a.example", "k"), "a.example", 22, Verdict.KNOWN),
        (line("a.example", "k", marker="@revoked"), "a.example", 22, Verdict.REVOKED),
        (line("*", "k", marker="@revoked") + line("a.example", "k"), "a.example", 22, Verdict.REVOKED),
        (line("*", "other", marker="@revoked") + line("a.example", "k"), "a.example", 22, Verdict.KNOWN),
        (line("*.example", "k", marker="@cert-authority"), "a.example", 22, Verdict.UNKNOWN),
        ("# comment\n\nbroken line\na.example ssh-ed25519 !!!\n", "a.example", 22, Verdict.UNKNOWN),
        ("|1|x|y ssh-ed25519 AAAA\n|1|broken ssh-ed25519 AAAA\n", "a.example", 22, Verdict.UNKNOWN),
    ],
)
def test_a_key_is_judged_by_the_lines_that_name_its_host(text: str, name: str, port: int, verdict: Verdict) -> None:
    assert judge_key(parse_known_hosts(text, "f"), name, port, blob("k")).verdict is verdict


def test_a_change_points_to_the_line_of_the_same_type() -> None:
    text = line("a", "rsa", "ssh-rsa") + "\n" + line("a", "old")
    judgement = judge_key(parse_known_hosts(text, "known"), "a", 22, blob("new"))
    assert judgement.entry is not None
    assert (judgement.entry.file, judgement.entry.line) == ("known", 3)


def test_lines_hashed_by_ssh_keygen_are_found(tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    public = (tmp_path / "key.pub").read_text().split()
    known = tmp_path / "known"
    known.write_text(f"a.example {public[0]} {public[1]}\n[b.example]:2222 {public[0]} {public[1]}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", known], check=True, capture_output=True)
    assert "example" not in known.read_text()
    entries = read_known_hosts([str(tmp_path / "none"), str(known)])
    key = base64.b64decode(public[1])
    assert judge_key(entries, "a.example", 22, key).verdict is Verdict.KNOWN
    assert judge_key(entries, "b.example", 2222, key).verdict is Verdict.KNOWN
    assert judge_key(entries, "c.example", 22, key).verdict is Verdict.UNKNOWN
    shown = subprocess.run(["ssh-keygen", "-lf", tmp_path / "key.pub"], check=True, capture_output=True, text=True)
    assert fingerprint(key) in shown.stdout.split()


def test_known_types_are_negotiated_first() -> None:
    entries = parse_known_hosts(line("a", "k", "ssh-rsa"), "f")
    offered = ("ssh-ed25519", "rsa-sha2-512", "rsa-sha2-256")
    assert order_algorithms(entries, offered) == ("rsa-sha2-512", "rsa-sha2-256", "ssh-ed25519")
    assert order_algorithms([], offered) == offered
