"""How often hosts are looked at: again only where the record of what gpuprov made there names more than was asked."""

from collections.abc import Sequence
from typing import Any

import pytest
from host_builders import edit, make_want, observation, satisfied

from gpuprov.app import observe as module
from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet
from gpuprov.app.observe import observe
from gpuprov.model.host import Connection, Host
from gpuprov.model.progress import ignore_progress
from gpuprov.model.snapshot import Snapshot
from gpuprov.probe.probe import Probed, ProbeRequest

HOST = Host(name="node-1", pool="train", target="onprem", connection=Connection(host="node-1", address="node-1"))
WANT = make_want()
FLEET = Fleet(hosts=(HOST,), wants={"node-1": WANT}, warnings=())


def with_record(*files: str) -> Snapshot:
    """A host that is as wanted, and whose record names these files."""
    owned = {"packages": {}, "files": dict.fromkeys(files, "0"), "sources": [], "want": "sha256:1"}
    return edit(satisfied(WANT), {"gpuprov.owned": observation(owned)})


@pytest.mark.parametrize(
    ("now", "known", "asked"),
    [
        pytest.param((), None, [()], id="nothing beside the want"),
        pytest.param(("/etc/old",), None, [(), ("/etc/old",)], id="the record is new to us"),
        pytest.param(("/etc/old",), ("/etc/old",), [("/etc/old",)], id="the record is known"),
        pytest.param(
            ("/etc/old", "/etc/new"),
            ("/etc/old",),
            [("/etc/old",), ("/etc/new", "/etc/old")],
            id="another run wrote there meanwhile",
        ),
    ],
)
def test_a_host_is_looked_at_again_only_for_what_was_not_asked(
    monkeypatch: pytest.MonkeyPatch, now: tuple[str, ...], known: tuple[str, ...] | None, asked: list[tuple[str, ...]]
) -> None:
    paths = []

    def probe(hosts: Sequence[Host], request: ProbeRequest, **_: Any) -> list[Probed]:
        paths.append(tuple(path for path in request.paths if path.startswith("/etc/old") or path == "/etc/new"))
        return [Probed(result=with_record(*now)) for _ in hosts]

    monkeypatch.setattr(module, "probe_hosts", probe)
    before = None if known is None else {"node-1": with_record(*known)}
    assert observe((HOST,), FLEET, Access(), ignore_progress, known=before) == {"node-1": with_record(*now)}
    assert paths == asked
