"""A Recording survives its YAML exactly, reads well, and may be cut by hand when its digest is removed."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuprov.document.recording_text import read_recording, write_recording
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.snapshot import CollectorOutput, Recording

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=30) | st.lists(
    st.sampled_from(
        [
            "a",
            " ",
            "\n",
            "\t",
            "- ",
            ": ",
            "#",
            "---",
            "...",
            "\r",
            "\x1b[0m",
            "\u2028",
            "\x85",
            "é",
            "😀",
            "'",
            '"',
            "\\",
        ]
    )
).map("".join)


def record(stdout: str, stderr: str = "", name: str = "smi") -> Recording:
    output = CollectorOutput(command="nvidia-smi -L", stdout=stdout, stderr=stderr, status=0)
    return Recording(
        host="node-1",
        os="debian-12",
        arch="amd64",
        taken="2026-11-30T03:00:00Z",
        collectors={name: output},
        seconds=0.25,
    )


@settings(deadline=None)
@given(TEXT, TEXT, TEXT.filter(bool))
@example(" leading\n", "\n\n", "a")
@example("a\n\n\n", "\n a\n", "a")
@example("\tx\ny", "a \n b\n ", "a")
@example("a\n\ufeffb\n", "a\n\ufffe\n", "a")
def test_text_keeps_the_recording(stdout: str, stderr: str, name: str) -> None:
    recording = record(stdout, stderr, name)
    assert read_recording(write_recording(recording), "r.yaml") == recording


def test_output_stands_as_a_block() -> None:
    text = write_recording(record("GPU 0: NVIDIA H100 80GB HBM3\nGPU 1: NVIDIA H100 80GB HBM3\n"))
    assert "    stdout: |\n      GPU 0: NVIDIA H100 80GB HBM3\n      GPU 1:" in text


def test_an_edit_is_refused_and_a_cut_without_digest_is_read() -> None:
    text = write_recording(record("GPU 0: H100\n"))
    edited = text.replace("H100", "H200")
    with pytest.raises(GpuprovError) as caught:
        read_recording(edited, "r.yaml")
    assert [d.code for d in caught.value.diagnostics] == ["GP-DOC-006"]
    cut = "".join(line for line in edited.splitlines(keepends=True) if not line.startswith("digest:"))
    assert "H200" in read_recording(cut, "r.yaml").collectors["smi"].stdout


@pytest.mark.parametrize(
    ("old", "new", "code", "address"),
    [
        ("kind: Recording", "kind: Snapshot", "GP-DOC-004", "kind"),
        ("kind: Recording", "kind: []", "GP-DOC-004", "kind"),
        ("gpuprov/v1", "gpuprov/v9", "GP-DOC-005", "apiVersion"),
        ("os:", "system:", "GP-DOC-008", "os"),
        ("    status: 0", "    status: zero", "GP-DOC-008", "collectors.smi.status"),
        ("    status: 0\n", "", "GP-DOC-008", "collectors.smi.status"),
        ("    command: ", "    command: [] #", "GP-DOC-008", "collectors.smi.command"),
    ],
)
def test_a_wrong_recording_is_refused(old: str, new: str, code: str, address: str) -> None:
    text = write_recording(record("x"))
    assert old in text
    with pytest.raises(GpuprovError) as caught:
        read_recording(text.replace(old, new, 1), "r.yaml")
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [(code, address)]
