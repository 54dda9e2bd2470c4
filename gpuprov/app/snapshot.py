"""`snapshot`: look at hosts and give what was seen; or turn a recording into a snapshot, without a host."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.named import named_hosts
from gpuprov.app.site import Site
from gpuprov.document.recording_text import read_recording, write_recording
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.status import ExitStatus
from gpuprov.probe.probe import ProbeRequest, probe_hosts
from gpuprov.probe.snapshot import snapshot_of
from gpuprov.store.files import make_folder, read_text, write_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What was seen: snapshots, hosts that could not be observed, and files written."""

    snapshots: tuple[Snapshot, ...]
    not_observed: tuple[NotObserved, ...]
    written: tuple[Path, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status(self) -> ExitStatus:
        """0, or 10 when a host could not be observed."""
        return ExitStatus.INCOMPLETE if self.not_observed else ExitStatus.DONE


def take_snapshots(
    names: Sequence[str], *, site: Site | None, access: Access, out: Path | None, record: Path | None, report: Report
) -> Look:
    """Probe hosts, read-only.

    Args:
        names: hosts of the inventory or the cloud, or ssh names; empty takes all hosts of the site's pools.
        site: where the inventory is named; None without a spec.
        access: how to reach them.
        out: file (one host) or folder (several) for snapshots; None writes none.
        record: the same for recordings.
        report: where progress goes.
    """
    named = named_hosts(names, site, access)
    hosts = named.hosts
    seen = probe_hosts(hosts, ProbeRequest(), limit=access.forks, timeout=access.probe_seconds, report=report)
    written: list[Path] = []
    snapshots, missing = [], list(named.absent.values())
    for found in seen:
        if isinstance(found.result, NotObserved):
            missing.append(found.result)
            continue
        snapshots.append(found.result)
        if out is not None:
            written.append(
                _write(out, found.result.host, ".json", write_snapshot(found.result), several=len(hosts) > 1)
            )
        if record is not None and found.recording is not None:
            text = write_recording(found.recording)
            written.append(_write(record, found.result.host, ".yaml", text, several=len(hosts) > 1))
    return Look(
        snapshots=tuple(snapshots), not_observed=tuple(missing), written=tuple(written), diagnostics=named.warnings
    )


def replay(files: Sequence[Path], *, out: Path | None) -> Look:
    """Turn recordings into snapshots.

    Raises:
        GpuprovError: GP-DOC codes for a file that is no recording.
    """
    snapshots = [snapshot_of(read_recording(read_text(file), str(file))) for file in files]
    written = []
    if out is not None:
        written = [_write(out, s.host, ".json", write_snapshot(s), several=len(files) > 1) for s in snapshots]
    return Look(snapshots=tuple(snapshots), not_observed=(), written=tuple(written))


def _write(place: Path, host: str, suffix: str, text: str, *, several: bool) -> Path:
    path = place / f"{host}{suffix}" if several or place.is_dir() else place
    make_folder(path.parent)
    write_text(path, text)
    return path
