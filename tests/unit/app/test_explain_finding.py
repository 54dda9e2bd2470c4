"""`explain F-...`: what a finding of the last report rests on, and what `up` would do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from host_builders import edit, make_snapshot, make_want, satisfied

from gpuprov.app.explain_finding import explain_finding, keep_report
from gpuprov.cli.main import main
from gpuprov.compare.compare import compare_want
from gpuprov.compare.finding_id import finding_id
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.model.facet import Cost, ParityClass
from gpuprov.model.fact import Absent, Evidence, Known, Unknown
from gpuprov.model.waiver import Waiver
from gpuprov.parity.types import Compared, Parity, Terms
from gpuprov.parity.verdict import judge
from gpuprov.probe.collectors import BY_NAME
from gpuprov.probe.request import ProbeRequest
from gpuprov.render.finding_text import cure_text
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

SEEN = Evidence(collector="pci", status=0, digest="sha256:abc")
WANT = make_want()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(host: str, **facts: Any) -> str:
    seen = make_snapshot({name.replace("_", "."): value for name, value in facts.items()}, host)
    seen = replace(seen, facts={a: replace(fact, evidence=SEEN) for a, fact in seen.facts.items()})
    Path(f"{host}.json").write_text(write_snapshot(seen))
    return f"./{host}.json"


def ids(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, str]:
    assert main(["parity", *argv, "--json"]) == 7
    return {finding["address"]: finding["id"] for finding in json.loads(capsys.readouterr().out)["findings"]}


def test_a_finding_of_the_last_report_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    name = ids(capsys, write("a", gpu_count=8), write("b", gpu_count=7))["gpu.count"]
    assert main(["explain", name]) == 0
    shown = capsys.readouterr().out
    for words in ("different: gpu.count", "a:", "8", "b:", "7", "must-equal", "a job that asks for 8 GPUs"):
        assert words in shown
    assert shown.count("collector pci, status 0, output sha256:abc") == 2
    assert "2026-11-30T00:00:00Z" in shown
    assert "/sys/bus/pci/devices" in shown
    assert "`gpuprov parity b --against lock`" in shown


def test_for_programs_the_whole_command_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    name = ids(capsys, write("a", gpu_count=8), write("b", gpu_count=7))["gpu.count"]
    assert main(["explain", name, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["commands"] == {"pci": BY_NAME["pci"].command(ProbeRequest())}
    assert (body["id"], body["hosts"], body["evidence"][1]["side"]) == (name, ["b"], "b")
    assert body["up"].startswith("nothing by itself")


def test_a_report_of_another_machine_is_read_from_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    operands = (write("a", gpu_count=8), write("b", gpu_count=7))
    assert main(["parity", *operands, "--format", "json:r.json"]) == 7
    name = next(row["id"] for row in json.loads(Path("r.json").read_text())["findings"])
    Path("kept").mkdir()
    capsys.readouterr()
    assert main(["explain", name, "--report", "r.json"]) == 0
    assert "gpu.count" in capsys.readouterr().out


def test_each_spec_has_its_own_last_report(tmp_path: Path) -> None:
    parity = _parity(edit(satisfied(WANT), {"gpu.count": Known(7)}))
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    assert keep_report(parity, first) == ()
    name = _name(parity)
    assert explain_finding(name, spec=first, report=None).hosts == ("node-1",)
    for spec in (second, None):
        with pytest.raises(Exception, match="GP-PAR-005"):
            explain_finding(name, spec=spec, report=None)


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["F-0000000000"], 6, "no report of this spec was kept"),
        (["F-0000000000", "--report", "none.json"], 2, "no such file"),
        (["gpu.count", "--report", "r.json"], 2, "--report belongs to a finding"),
    ],
)
def test_what_cannot_be_explained(argv: list[str], status: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *argv]) == status
    assert words in capsys.readouterr().err


def test_a_finding_that_the_report_lacks_and_a_report_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    ids(capsys, write("a", gpu_count=8), write("b", gpu_count=7))
    assert main(["explain", "F-0000000000"]) == 6
    assert "the report has no finding F-0000000000" in capsys.readouterr().err
    for text, code in (("[1]", "GP-DOC-008"), ("no json", "GP-DOC-002"), ('{"kind": "Plan"}', "GP-DOC-004")):
        Path("r.json").write_text(text)
        assert main(["explain", "F-0000000000", "--report", "r.json"]) == 2
        assert code in capsys.readouterr().err


def test_a_waiver_in_trouble_is_explained_too(tmp_path: Path) -> None:
    terms = Terms(today="2026-11-30", waivers=(Waiver(facet="host.os", reason="moved", until="2026-11-29"),))
    parity = judge([Compared(host="a", findings=(), facets=1)], terms)
    keep_report(parity, None)
    found = explain_finding(parity.waivers[0].id, spec=None, report=None)
    assert (found.finding, found.waiver) == (None, parity.waivers[0].text)


def test_a_report_that_cannot_be_kept_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    (note,) = keep_report(_parity(satisfied(WANT)), None)
    assert note.severity == "note"
    assert "--format json:FILE" in note.hint


def test_findings_without_a_say_are_kept_up_to_a_bound(tmp_path: Path) -> None:
    (finding,) = _parity(edit(satisfied(WANT), {"gpu.count": Known(7)})).findings
    quiet = replace(finding, parity=ParityClass.INFORMATIONAL)
    many = tuple(replace(quiet, address=f"a{number}") for number in range(3000))
    keep_report(replace(_parity(satisfied(WANT)), findings=(*many, finding)), None)
    (kept,) = (tmp_path / "cache" / "gpuprov" / "parity").iterdir()
    assert len(json.loads(kept.read_text())["body"]["findings"]) == 501


CURES = [
    (
        'package["libcuda1"].version',
        Known("570.1-1"),
        "install libcuda1=580.95.05-1, in one package transaction; the host",
    ),
    ('package["libcuda1"].held', Known(value=False), "hold libcuda1; nobody notices"),
    ('package["libcuda1"].state', Known("half-configured"), "let dpkg finish libcuda1"),
    ('file["/etc/motd"].sha256', Known("0"), "write /etc/motd"),
    ('service["docker"].active', Known("inactive"), "start docker"),
    ('service["docker"].enabled', Known("disabled"), "enable docker"),
    ('exporter["node"].answers', Known(value=False), "restart what serves exporter node; a service restarts"),
    ("stack.driver.loaded", Known("570.1"), "reboot the host"),
    ("gpu.count", Known(7), "nothing ends it: nothing in gpuprov changes it"),
    ("host.os", Known("debian-13"), "nothing ends it: the host would be replaced"),
    ("apt.dpkg", Unknown("timed out"), "nothing: what could not be observed is not changed (timed out)"),
]


@pytest.mark.parametrize(("address", "seen", "words"), CURES)
def test_what_up_would_do(address: str, seen: Any, words: str) -> None:
    (finding,) = _parity(edit(satisfied(WANT), {address: seen})).findings
    assert words in cure_text(finding)


def test_what_up_would_do_about_what_is_no_longer_wanted_and_what_is_waived() -> None:
    (finding,) = _parity(edit(satisfied(WANT), {"gpu.count": Known(7)})).findings
    gone = replace(finding, curable=True, expected=Absent(), cost=Cost.NOTHING)
    for address, words in (('package["x"].version', "remove x"), ('file["/x"].sha256', "remove /x")):
        assert words in cure_text(replace(gone, address=address))
    waived = replace(finding, waiver=Waiver(facet="gpu.count", reason="agreed", until="2027-01-01"))
    assert cure_text(waived) == "nothing: it is waived until 2027-01-01 (agreed)"


def _parity(snapshot: Any) -> Parity:
    found = compare_want(expectations(WANT, owned_of(snapshot)), snapshot)
    return judge([Compared(host=snapshot.host, findings=found, facets=9)], Terms(today="2026-11-30"))


def _name(parity: Parity) -> str:
    return finding_id(parity.findings[0])
