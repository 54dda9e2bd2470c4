"""One trial: move the host, let the fault strike, see what was told and what is left, let the next run mend it."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fault_table import PROPERTY, row

from tests.e2e.matrix.case import Case
from tests.e2e.matrix.faults import FAULTS
from tests.e2e.matrix.moments import Watcher
from tests.e2e.matrix.rack import SECONDS, Rack
from tests.e2e.site import Ended

Note = Callable[[str, object], None]
"""Notes a property of a test."""


def attempt(case: Case, rack: Rack, note: Note) -> None:
    """Try one fault; its row is noted however it ends."""
    with noted(note, fault=case.do, at=case.at) as seen:
        rack.ready()
        rack.turn(case.move)
        ended = struck(case, rack)
        seen.update(status=str(ended.status), told=" ".join(dict.fromkeys(ended.codes)))
        if not case.at_once:
            rack.settle()
            found = rack.look()
            seen["after"] = ", ".join(f"{name} {value}" for name, value in found.items())
            told(case, rack, ended)
            wrong = {name: found[name] for name, text in case.left.items() if found[name] not in text.split("|")}
            assert not wrong, f"on the host: {found}\n{ended.stderr}"
        else:
            told(case, rack, ended)
        mend(rack, by=case.mend)
        seen["mended"] = case.mend
        rack.known = True


def struck(case: Case, rack: Rack) -> Ended:
    """Run `up` with the fault in its way; the fault is undone at the end."""
    watcher = Watcher(rack)
    with ExitStack() as undo:
        if not case.when:
            undo.enter_context(FAULTS[case.do](rack))
        run = rack.start("up", "--target", "onprem", "--yes", "--json", env=case.env)
        if case.when:
            watcher.wait(run, case.when)
            undo.enter_context(FAULTS[case.do](rack))
        if case.heal is not None:
            time.sleep(case.heal)
            undo.close()
        return run.end(SECONDS)


def told(case: Case, rack: Rack, ended: Ended) -> None:
    """What the user was told is what the case says, once, and no traceback."""
    said = f"{ended.stdout}\n{ended.stderr}"
    assert ended.status == case.status, said
    assert "Traceback" not in said, said
    if case.codes:
        assert ended.codes, said
        assert ended.codes[0] in case.codes, said
        assert "hint:" in ended.stderr, said
    elif case.status >= 0:
        assert ended.codes == [], said
    assert [word for word in case.words if word.format(host=rack.name) not in said] == [], said


def mend(rack: Rack, *, by: str = "up") -> None:
    """One command mends the host, in one run, and it is as its documents say."""
    if by == "rollback":
        rack.site.run("rollback", "--target", "onprem", "--yes", "--json", seconds=SECONDS)
        rack.turn_back()
    elif by == "resume":  # it takes target and hosts from the run that it goes on with
        rack.site.run("up", "--resume", "--yes", "--json", seconds=SECONDS)
    else:
        rack.site.up(seconds=SECONDS)
    drift = rack.site.drift()
    assert drift.status == 0, f"{drift.status}: {drift.stdout}\n{drift.stderr}"
    found = rack.look()
    assert found["packages"] == "after", found
    assert found["dpkg"] == "whole", found
    assert found["loaded"] in {"after", "same"}, found
    assert found["engine"] == "active", found
    assert found["work"] == "on", found


@contextmanager
def noted(note: Note, **known: str) -> Iterator[dict[str, Any]]:
    """Note the row of a fault at the end, also of one that was lost."""
    began, seen = time.monotonic(), dict[str, Any](known)
    try:
        yield seen
    finally:
        note(PROPERTY, row(**seen, seconds=time.monotonic() - began))
