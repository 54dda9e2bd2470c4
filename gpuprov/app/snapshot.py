"""`snapshot`: look at hosts and give what was seen; or turn recordings into snapshots, without a host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.named import named_hosts
from gpuprov.app.site import Site
from gpuprov.document.recording_text import read_recording, write_recording
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.snapshot import NotObserved, Recording, Snapshot
from gpuprov.model.status import ExitStatus
from gpuprov.probe.probe import ProbeRequest, probe_hosts
from gpuprov.probe.sharing import Sharing
from gpuprov.probe.snapshot import snapshot_of
from gpuprov.store.files import make_folder, read_text, write_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What was seen: snapshots, hosts that could not be observed, and files written."""

    snapshots: tuple[Snapshot, ...]
    not_observed: tuple[NotObserved, ...]
    written: tuple[Path, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Host -> what it is called in the recordings that were written."""

    @property
    def status(self) -> ExitStatus:
        """0, or 10 when a host could not be observed."""
        return ExitStatus.INCOMPLETE if self.not_observed else ExitStatus.DONE


def take_snapshots(
    names: Sequence[str],
    *,
    site: Site | None,
    access: Access,
    out: Path | None,
    record: Path | None,
    full: bool,
    report: Report,
) -> Look:
    """Probe hosts, read-only.

    Args:
        names: hosts of the inventory or the cloud, or ssh names; empty takes all hosts of the site's pools.
        site: where the inventory is named; None without a spec.
        access: how to reach them.
        out: file (one host) or folder (several) for snapshots; None writes none.
        record: the same for recordings.
        full: whether recordings keep host names, addresses and serial numbers.
        report: where progress goes.
    """
    named = named_hosts(names, site, access)
    hosts = named.hosts
    seen = probe_hosts(hosts, ProbeRequest(), limit=access.forks, timeout=access.probe_seconds, report=report)
    missing = [found.result for found in seen if isinstance(found.result, NotObserved)]
    return _keep(
        [found.result for found in seen if isinstance(found.result, Snapshot)],
        [found.recording for found in seen if found.recording is not None],
        out=out,
        record=record,
        full=full,
        several=len(hosts) > 1,
        missing=(*named.absent.values(), *missing),
        warnings=named.warnings,
    )


def replay(files: Sequence[Path], *, out: Path | None, record: Path | None, full: bool) -> Look:
    """Turn recordings into snapshots, and into recordings that can be shared.

    Args:
        files: recordings.
        out: file (one recording) or folder (several) for snapshots; None writes none.
        record: the same for recordings.
        full: whether these keep host names, addresses and serial numbers.

    Raises:
        GpuprovError: GP-DOC codes for a file that is no recording.
    """
    recordings = [read_recording(read_text(file), str(file)) for file in files]
    return _keep(
        [snapshot_of(recording) for recording in recordings],
        recordings,
        out=out,
        record=record,
        full=full,
        several=len(files) > 1,
    )


def _keep(
    snapshots: Sequence[Snapshot],
    recordings: Sequence[Recording],
    *,
    out: Path | None,
    record: Path | None,
    full: bool,
    several: bool,
    missing: Sequence[NotObserved] = (),
    warnings: Sequence[Diagnostic] = (),
) -> Look:
    """Write what was asked for."""
    names = [snapshot.host for snapshot in snapshots]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice and (out is not None or record is not None):
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                address=twice[0],
                summary=f"two recordings are of {twice[0]}: their files would have one name",
                hint="replay them one at a time, each with its own `--out`",
            )
        )
    written: list[Path] = []
    stand_ins: dict[str, str] = {}
    if out is not None:
        written += [_write(out, s.host, ".json", write_snapshot(s), several=several) for s in snapshots]
    if record is not None:
        sharing = Sharing()
        for recording in recordings:
            kept = recording if full else sharing.share(recording)
            if not full:
                stand_ins[recording.host] = kept.host
            written.append(_write(record, kept.host, ".yaml", write_recording(kept), several=several))
    return Look(
        snapshots=tuple(snapshots),
        not_observed=tuple(missing),
        written=tuple(written),
        diagnostics=tuple(warnings),
        stand_ins=stand_ins,
    )


def _write(place: Path, host: str, suffix: str, text: str, *, several: bool) -> Path:
    path = place / f"{host}{suffix}" if several or place.is_dir() else place
    make_folder(path.parent)
    write_text(path, text)
    return path
