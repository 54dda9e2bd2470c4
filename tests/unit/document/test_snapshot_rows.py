"""Reading with a cache of rows gives what the plain reader gives, for good texts and for bad ones."""

import json

import pytest

from gpuprov.document.envelope import document_digest
from gpuprov.document.layout import json_text
from gpuprov.document.snapshot_rows import RowCache, RowFacts, read_snapshot_rows
from gpuprov.document.snapshot_text import read_snapshot, write_snapshot
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Absent, Evidence, Fact, Known, Observation, Unknown
from gpuprov.model.snapshot import Snapshot

SEEN = Evidence(collector="packages", status=0, digest="sha256:1")
VALUES: dict[str, Observation] = {
    "apt.sources": Known([{"file": "a.list", "uris": ["http://a.example"]}, {"file": "},\n      {", "uris": []}]),
    "gpu.count": Unknown("/sys is not there"),
    "host.os": Known("debian-12"),
    "stack.driver.loaded": Absent(),
    'file["/etc/motd"].text': Known('quote " and \\ and \U0001f600 é\n'),
    'package["bash"].version': Known("5.2-1"),
}


def snapshot(host: str = "a", **more: Observation) -> Snapshot:
    values = VALUES | {name.replace("_", "."): value for name, value in more.items()}
    facts = {a: Fact(address=a, observation=o, evidence=SEEN if a.startswith("p") else None) for a, o in values.items()}
    return Snapshot(host=host, taken="2026-11-30T00:00:00Z", facts=facts, families={"package": Absent()}, seconds=1.25)


def test_what_is_written_is_read_the_quick_way_and_equals_what_the_plain_reader_gives() -> None:
    text, cache = write_snapshot(snapshot()), RowCache()
    for _ in range(2):
        found = read_snapshot_rows(text, "a.json", cache)
        assert isinstance(found.facts, RowFacts)
        assert found == read_snapshot(text, "a.json")
        assert dict(found.facts) == dict(snapshot().facts)
    assert "host.os" in found.facts
    assert "host.arch" not in found.facts


def test_rows_of_one_cache_settle_where_two_hosts_agree_and_unknowns_stay_open() -> None:
    cache = RowCache()
    texts = (
        write_snapshot(snapshot("a", x_only=Known("1"))),
        write_snapshot(snapshot("b", host_os=Known("debian-13"))),
    )
    first, second = (read_snapshot_rows(text, "x.json", cache).facts for text in texts)
    assert isinstance(first, RowFacts)
    assert isinstance(second, RowFacts)
    assert first.unsettled(second) == second.unsettled(first) == {"gpu.count", "host.os", "x.only"}


def test_a_full_cache_changes_nothing_but_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuprov.document.snapshot_rows._ROWS", 2)
    text, cache = write_snapshot(snapshot()), RowCache()
    assert read_snapshot_rows(text, "a.json", cache) == read_snapshot(text, "a.json")
    assert len(cache.rows) == 2


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
def test_another_layout_is_read_too(indent: int | None) -> None:
    text = json.dumps(json.loads(write_snapshot(snapshot())), indent=indent)
    assert read_snapshot_rows(text, "a.json", RowCache()) == read_snapshot(text, "a.json")


def reseal(edit: str, value: object) -> str:
    """A document with one place of its body changed and a digest that fits."""
    document = json.loads(write_snapshot(snapshot()))
    place = document["body"]
    *way, last = edit.split("/")
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    place[int(last) if last.isdigit() else last] = value
    document["digest"] = document_digest("Snapshot", document["body"])
    return json_text(document)


BAD = {
    "edited": write_snapshot(snapshot()).replace("debian-12", "debian-13"),
    "head edited": write_snapshot(snapshot()).replace('"host": "a"', '"host": "b"'),
    "cut": write_snapshot(snapshot())[:-40],
    "a mark": "\ufeff" + write_snapshot(snapshot()),
    "newer": write_snapshot(snapshot()).replace("gpuprov/v1", "gpuprov/v2"),
    "other kind": write_snapshot(snapshot()).replace('"Snapshot"', '"Plan"'),
    "key twice": write_snapshot(snapshot()).replace('"address": "host.os"', '"address": "x", "address": "host.os"'),
    "a float": reseal("milliseconds", 1).replace('"milliseconds": 1', '"milliseconds": 1.5'),
    "address twice": reseal("facts/0/address", "host.os"),
    "no such evidence": reseal("facts/5/evidence", "nobody"),
    "evidence without a name": reseal("facts/5/evidence", ""),
    "null": reseal("facts/2/known", None),
    "two observations": reseal("facts/2/absent", value=True),
    "no host": reseal("host", 7),
    "families": reseal("families", []),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_text_has_the_error_of_the_plain_reader(name: str) -> None:
    cache = RowCache()
    read_snapshot_rows(write_snapshot(snapshot()), "good.json", cache)
    with pytest.raises(GpuprovError) as plain:
        read_snapshot(BAD[name], "a.json")
    with pytest.raises(GpuprovError) as quick:
        read_snapshot_rows(BAD[name], "a.json", cache)
    assert quick.value.diagnostics == plain.value.diagnostics
