"""Laws of the probe: what a host says, whole or mutilated, becomes facts or a reason; secrets and names stay there."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.recording_text import read_recording, write_recording
from gpuprov.document.snapshot_text import read_snapshot, write_snapshot
from gpuprov.model.address import pattern_of
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import family_of, observe
from gpuprov.probe.collectors import BY_NAME, COLLECTORS
from gpuprov.probe.recording import split_output
from gpuprov.probe.redaction import redaction_script
from gpuprov.probe.sharing import Sharing
from gpuprov.probe.snapshot import snapshot_of

FOLDER = Path(__file__).parents[1] / "cases"
TAKEN = "2026-11-30T10:00:00Z"


def rows(*names: str) -> list[dict[str, Any]]:
    files = [path for name in names for path in sorted(FOLDER.glob(name))]
    return [row for path in files for row in yaml.safe_load(path.read_text(encoding="utf-8"))]


def outputs_of(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Collector -> what it printed, of a collector's case or a report's."""
    return row["outputs"] if "outputs" in row else {**row.get("context", {}), row["collector"]: row}


REAL = [outputs_of(row) for row in rows("probe/*.yaml", "reports/probe_*.yaml")]
"""Every recorded form that this repository has, with what else the same host printed."""
ODD = st.sampled_from(
    [
        *("", " ", "\n", "\r\n", "\x00", "\x0b", "\x1c", "\x85", "\u2028", "\ufffd", "é", "²", "٣"),
        *(":", "::", "=", "-", "{", "}", '"', "'", "\\", "9" * 30, "end", "end \n"),
    ]
)


@st.composite
def mutilated(draw: st.DrawFn, text: str) -> str:
    """A real output after up to four accidents: lines lost, doubled, moved, cut, or with odd characters in them."""
    lines = text.splitlines(keepends=True) or [""]
    for _ in range(draw(st.integers(0, 4))):
        at, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        cut = draw(st.integers(0, len(line)))
        match draw(st.sampled_from(["lose", "double", "move", "cut", "insert", "join"])):
            case "lose":
                lines[at] = ""
            case "double":
                lines.insert(other, line)
            case "move":
                lines[at], lines[other] = lines[other], line
            case "cut":
                lines[at] = line[:cut]
            case "insert":
                lines[at] = line[:cut] + draw(ODD) + line[cut:]
            case "join":
                lines[at] = line.rstrip("\n")
    return "".join(lines)


@st.composite
def outputs(draw: st.DrawFn) -> dict[str, CollectorOutput]:
    return {
        name: CollectorOutput(
            command="",
            stdout=draw(mutilated(said.get("stdout", ""))),
            stderr=draw(mutilated(said.get("stderr", ""))),
            status=draw(st.sampled_from([said.get("status", 0), 0, 1, 2, 126, 255])),
        )
        for name, said in draw(st.sampled_from(REAL)).items()
    }


def recorded(found: dict[str, CollectorOutput]) -> Recording:
    return Recording(host="gpu-a", os="", arch="amd64", taken=TAKEN, collectors=found)


@given(outputs())
def test_a_parser_never_raises_and_tells_of_everything_that_its_collector_gives(
    found: dict[str, CollectorOutput],
) -> None:
    recording = recorded(found)
    for name in found:
        collector = BY_NAME[name]
        seen = observe(collector, recording)
        for address in collector.gives:
            family = family_of(address)
            assert (f"{family}[*]" if family else address) in seen
        for address in seen:
            assert address.endswith("[*]") or pattern_of(address) in collector.gives, address


@given(outputs())
def test_a_snapshot_of_any_output_is_a_document_and_a_recording_gives_the_same(
    found: dict[str, CollectorOutput],
) -> None:
    recording = recorded(found)
    snapshot = snapshot_of(recording)
    assert read_snapshot(write_snapshot(snapshot), "x") == snapshot
    assert snapshot_of(read_recording(write_recording(recording), "x")) == snapshot


@given(outputs())
def test_a_recording_made_for_sharing_can_be_replayed_and_made_again(found: dict[str, CollectorOutput]) -> None:
    shared = Sharing().share(recorded(found))
    assert shared == Sharing().share(recorded(found))
    assert snapshot_of(shared).facts.keys() >= {a for c in COLLECTORS for a in c.gives if "*" not in a}


TOKEN = "@gpuprov-0123456789ab"
printed = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(lambda text: TOKEN not in text)


@given(st.lists(st.tuples(printed, printed, st.integers(0, 255)), min_size=1, max_size=5))
def test_frames_give_back_what_was_printed(said: list[tuple[str, str, int]]) -> None:
    text = f"\n{TOKEN} start 1.5\n"
    for number, (out, err, status) in enumerate(said):
        text += f"\n{TOKEN} out c{number}\n{out}\n{TOKEN} err c{number}\n{err}\n{TOKEN} end c{number} {status}\n"
    collected, seconds = split_output(f"motd\n{text}\n{TOKEN} finish 2.0\n", TOKEN)
    assert seconds == 0.5
    assert collected == {f"c{number}": row for number, row in enumerate(said)}


PLACES = (
    "http://user:{}@proxy.example:3128/",
    "deb https://{}@repo.example/ubuntu jammy main",
    "machine repo.example login me password={}",
    "Environment=REGISTRY_TOKEN={} OTHER=1",
    "Environment='DB_PASSWORD={}'",
    '{{"proxies": {{"http-proxy": "http://u:{}@h:1"}}, "n": 1}}',
    '{{"apiKey": "{}", "n": 1}}',
    'secret-key: "{}"',
    "token: {}",
    "password = '{}'",
    "Authorization: Bearer {}",
    "https://h.example/x?access_key={}&y=2",
    "//nas/x /mnt cifs username=u,password={},vers=3.0 0 0",
)
WORD = st.text(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.~!$%^*()", min_size=8, max_size=30
).filter(lambda word: not any(word in place for place in PLACES))


@pytest.mark.slow  # starts a program for each example
@given(st.lists(WORD, min_size=len(PLACES), max_size=len(PLACES), unique=True))
def test_no_secret_passes_the_script_that_replaces_them(words: list[str]) -> None:
    texts = [place.format(word) for place, word in zip(PLACES, words, strict=True)]
    done = subprocess.run(
        ["sed", "-E", redaction_script(TOKEN)], input="\n".join(texts), capture_output=True, text=True, check=True
    )
    lines = done.stdout.split("\n")
    assert [(place, line) for place, word, line in zip(PLACES, words, lines, strict=True) if word in line] == []


NAME = st.from_regex(r"[a-z]{4}[a-z0-9-]{2,8}[0-9]", fullmatch=True)
ADDRESS = st.ip_addresses(v=4, network="10.0.0.0/8").map(str)


@given(name=NAME, server=NAME, address=ADDRESS, serial=st.from_regex(r"[A-Z0-9]{6}[0-9]{6}", fullmatch=True))
def test_nothing_of_a_site_is_left_in_a_recording_made_for_sharing(
    name: str, server: str, address: str, serial: str
) -> None:
    texts = {
        "name": f"{name}.corp.example\n",
        "sources": f"source-file /etc/apt/x.list\ndeb http://{server}.corp.example/apt stable main\n\nend \n",
        "mounts": f"/proc/self/mounts:{server}:/x /data nfs4 rw,addr={address},clientaddr=10.1.2.3 0 0\ndf \nend\n",
        "disks": f"part sda sda 8:0\n/sys/block/sda/device/serial:{serial}\nscsi-X_{serial}\nend\n",
        "root": f"sudo: unable to resolve host {name}: Name or service not known\n",
        "firewall": f"nft \n\tchain input {{\n\t\tip saddr {address} accept\n\t}}\nend\n",
    }
    outputs_ = {n: CollectorOutput(command="", stdout=t, stderr=t, status=0) for n, t in texts.items()}
    recording = Recording(host=name, os="", arch="", taken=TAKEN, collectors=outputs_)
    text = write_recording(Sharing().share(recording))
    assert [word for word in (name, f"{server}.corp", f"{server}:", address, serial) if word in text] == []
