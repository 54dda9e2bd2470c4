"""`rollback`: what hosts keep decides, also where this machine has neither spec nor lock."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from host_builders import VERSIONS, edit, make_want, satisfied

from gpuprov.app import kept as kept_module
from gpuprov.app import rollback as module
from gpuprov.app.access import Access
from gpuprov.app.planning import plan_fleet
from gpuprov.app.rollback import RollbackRequest, rollback
from gpuprov.app.rolling import Work
from gpuprov.model.change import Action, Plan
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.fact import Known, Unknown
from gpuprov.model.progress import ignore_progress
from gpuprov.model.run import HostResult, HostState, RunResult
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.status import ExitStatus
from gpuprov.transport.protocol import Outcome
from gpuprov.want.read import want_text

OLD = make_want({**VERSIONS, "nvidia-container-toolkit": "1.17.8-1"})
NEW = make_want()
SPEC = """\
apiVersion: gpuprov/v1
name: site
os: debian-12
pools: {train: {gpu: none, onprem: {group: train}, rollout: {batch: "2"}}}
"""
RUNS = [("r1", OLD, True), ("r2", NEW, False)]


def row(number: int, run: str, want: str, *, done: bool) -> dict[str, Any]:
    return {"run": run, "number": number, "want": want, "done": done, "left": False}


@dataclass
class Hosts:
    """Two hosts that were brought from OLD to NEW, and what a test changes about them."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Snapshot | NotObserved] = field(default_factory=dict)
    asked: list[tuple[Plan, tuple[Diagnostic, ...]]] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)

    def __post_init__(self) -> None:
        for run, want, _ in RUNS:
            self.files |= {
                f"{run}/want.json": want_text(want),
                f"{run}/spec.yaml": SPEC,
                f"{run}/lock.json": f"{run}\n",
            }
        rows = [row(n, run, want.digest, done=done) for n, (run, want, done) in enumerate(RUNS)]
        now = edit(satisfied(NEW), {"gpuprov.runs": Known(rows)})
        self.seen = {"node-1": now, "node-2": now}

    def back(self, **request: Any) -> RunResult:
        """Run `rollback` where there is nothing but an inventory."""

        def ask(plan: Plan, told: Sequence[Diagnostic]) -> bool:
            self.asked.append((plan, tuple(told)))
            return True

        access = Access(inventory=str(self.folder / "hosts.yml"))
        full = {"spec": Path("gpuprov.yaml"), "access": access, **request}
        return rollback(RollbackRequest(**full), ask=ask, report=ignore_progress)


class Shell:
    """Answers `cat` as a host that keeps the files."""

    host = "node"

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def run(self, command: str, **_: Any) -> Outcome:
        name = command.removeprefix("cat /var/lib/gpuprov/runs/")
        text = self.files.get(name)
        if text is None:
            return Outcome(status=1, stdout=b"", stderr=b"cat: No such file or directory", seconds=0.0)
        return Outcome(status=0, stdout=text.encode(), stderr=b"", seconds=0.0)

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    made = Hosts(folder=tmp_path)
    (tmp_path / "hosts.yml").write_text("all: {children: {train: {hosts: {node-1: {}, node-2: {}}}}}\n")
    monkeypatch.chdir(tmp_path)

    def look_and_plan(fleet: Any, _access: Any, _report: Any, *, lock: str, waivers: Any, terms: Any) -> Any:
        snapshots = {h.name: made.seen[h.name] for h in fleet.hosts}
        return plan_fleet(fleet, snapshots, {}, lock=lock, waivers=waivers, terms=terms)  # type: ignore[arg-type]

    def done(work: Work, **_: Any) -> tuple[HostResult, ...]:
        made.works.append(work)
        return tuple(HostResult(host=h.name, pool=h.pool, state=HostState.CHANGED) for h in work.fleet.hosts)

    monkeypatch.setattr(module, "observe", lambda asked, *_: {host.name: made.seen[host.name] for host in asked})
    monkeypatch.setattr(module, "look_and_plan", look_and_plan)
    monkeypatch.setattr(module, "converge_hosts", done)
    monkeypatch.setattr(module, "prove_hosts", done)
    monkeypatch.setattr(kept_module, "connect", lambda _connection: Shell(made.files))
    return made


def test_hosts_go_back_by_what_they_keep_and_the_plan_says_why(hosts: Hosts) -> None:
    result = hosts.back()
    assert result.status is ExitStatus.DONE
    ((plan, told),) = hosts.asked
    moved = [c for c in plan.hosts[0].changes if c.action is Action.DOWNGRADE]
    assert [(c.subject, c.after, c.reason) for c in moved] == [("nvidia-container-toolkit", "1.17.8-1", "as in run r1")]
    assert [(d.code, d.summary) for d in told] == [("GP-BACK-004", "back to run r1: node-1, node-2")]
    (work,) = hosts.works
    assert work.keep is not None
    back = work.keep.back["node-1"]
    assert (back.run, back.documents.spec, back.documents.lock) == ("r1", SPEC, "r1\n")
    assert work.steps.rollouts["train"].batch == "2", "drains and batches are those of the newest kept spec"
    assert {host.pool for host in work.fleet.hosts} == {"train"}


def test_a_host_that_is_as_in_the_run_is_proven_and_nothing_is_asked(hosts: Hosts) -> None:
    result = hosts.back(to="r2")
    assert hosts.asked == []
    assert result.run == ""
    assert len(hosts.works) == 1


def test_hosts_without_a_way_back_are_told_and_the_others_go(hosts: Hosts) -> None:
    hosts.seen["node-2"] = edit(satisfied(NEW), {"gpuprov.runs": Known([row(0, "r2", NEW.digest, done=True)])})
    result = hosts.back()
    assert [h.host for h in result.hosts] == ["node-1"]
    (told,) = [d for d in result.diagnostics if d.code == "GP-BACK-002"]
    assert (told.address, "r2" in told.detail) == ("node-2", True)
    assert result.status is ExitStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("name", "text"), [("r1/want.json", "{}"), ("r1/want.json", want_text(NEW)), ("r1/want.json", None)]
)
def test_a_record_that_cannot_be_used_leaves_the_host_alone(hosts: Hosts, name: str, text: str | None) -> None:
    hosts.files.pop(name)
    if text is not None:
        hosts.files[name] = text
    result = hosts.back()
    assert {d.code for d in result.diagnostics} == {"GP-BACK-003"}
    assert result.status is ExitStatus.REFUSED
    assert hosts.asked == []


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (edit(satisfied(NEW), {"gpuprov.runs": Unknown("needs root")}), "GP-BACK-003"),
        (NotObserved(host="node-2", code="GP-SSH-001", reason="no answer"), "GP-SSH-001"),
    ],
)
def test_a_host_that_cannot_be_asked_is_not_one_without_runs(
    hosts: Hosts, seen: Snapshot | NotObserved, code: str
) -> None:
    hosts.seen["node-2"] = seen
    assert [d.code for d in hosts.back().diagnostics if d.address == "node-2"] == [code]


def test_without_spec_and_inventory_it_says_what_is_missing(hosts: Hosts) -> None:
    with pytest.raises(GpuprovError) as caught:
        hosts.back(access=Access())
    assert [d.code for d in caught.value.diagnostics] == ["GP-INV-001"]
