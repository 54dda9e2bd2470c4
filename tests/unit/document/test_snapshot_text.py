"""A Snapshot survives its text exactly, and a broken text is refused with the address of the fault."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.document.envelope import seal
from gpuprov.document.snapshot_text import read_snapshot, write_snapshot
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Absent, Evidence, Fact, Known, Unknown
from gpuprov.model.snapshot import Snapshot

VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OBSERVATIONS = st.builds(Known, VALUES) | st.builds(Absent) | st.builds(Unknown, st.text(max_size=20))
EVIDENCE = st.none() | st.builds(
    Evidence,
    collector=st.sampled_from(["smi", "packages"]),
    status=st.integers(0, 255),
    digest=st.sampled_from(["sha256:1", "sha256:2"]),
)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    addresses = draw(st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=6))
    facts = {a: Fact(address=a, observation=draw(OBSERVATIONS), evidence=draw(EVIDENCE)) for a in addresses}
    return Snapshot(
        host=draw(st.text(max_size=10)),
        taken="2026-11-30T03:00:00Z",
        facts=facts,
        families=draw(st.dictionaries(st.sampled_from(["package", "file"]), OBSERVATIONS)),
        seconds=draw(st.integers(0, 10**6)) / 1000,
    )


@settings(deadline=None)
@given(snapshots())
def test_text_keeps_the_snapshot(snapshot: Snapshot) -> None:
    assert read_snapshot(write_snapshot(snapshot), "s.json") == snapshot


def test_a_changed_fact_changes_one_line_besides_the_digest() -> None:
    def text(version: str) -> list[str]:
        facts = {f"package[{n}].version": Fact(address=f"package[{n}].version", observation=Known("1")) for n in "abc"}
        facts["package[b].version"] = Fact(address="package[b].version", observation=Known(version))
        return write_snapshot(Snapshot(host="n1", taken="", facts=facts)).splitlines()

    changed = [a for a, b in zip(text("1"), text("2"), strict=True) if a != b]
    assert len(changed) == 2


@pytest.mark.parametrize(
    ("change", "address"),
    [
        ({"host": 3}, "host"),
        ({"facts": {}}, "facts"),
        ({"facts": [{"address": "a"}]}, "facts[0].known"),
        ({"facts": [{"address": "a", "known": None}]}, "facts[0].known"),
        ({"facts": [{"address": "a", "known": [1, None]}]}, "facts[0].known"),
        ({"facts": [{"address": "a", "known": 1, "absent": True}]}, "facts[0].known"),
        ({"facts": [{"address": "a", "absent": False}]}, "facts[0].known"),
        ({"facts": [{"address": "a", "known": 1, "evidence": "smi"}]}, "facts[0].evidence"),
        ({"facts": [{"address": "a", "known": 1}, {"address": "a", "known": 2}]}, "facts[1].address"),
        ({"milliseconds": True}, "milliseconds"),
        ({"families": {"package": 3}}, "families.package"),
    ],
)
def test_a_wrong_body_is_refused(change: dict[str, object], address: str) -> None:
    good = json.loads(write_snapshot(Snapshot(host="n1", taken="", facts={})))["body"]
    with pytest.raises(GpuprovError) as caught:
        read_snapshot(seal("Snapshot", {**good, **change}), "s.json")
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [("GP-DOC-008", address)]
