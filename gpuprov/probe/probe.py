"""Probe hosts: one ssh session and one script each, many hosts at once."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report, ignore_progress
from gpuprov.model.snapshot import NotObserved, Recording, Snapshot
from gpuprov.probe.collectors import COLLECTORS
from gpuprov.probe.recording import BrokenOutputError, make_recording
from gpuprov.probe.request import ProbeRequest
from gpuprov.probe.script import WRAPPER, build_script
from gpuprov.probe.snapshot import snapshot_of
from gpuprov.transport.pool import run_on_all
from gpuprov.transport.protocol import Outcome, Transport
from gpuprov.transport.ssh import connect

__all__ = ["ProbeRequest", "Probed", "probe_host", "probe_hosts"]

_MARGIN = 5.0
"""Seconds between the script's own limit and the transport's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probed:
    """What came of probing one host."""

    result: Snapshot | NotObserved
    recording: Recording | None = None
    """None when the host could not be observed."""


def probe_hosts(
    hosts: Sequence[Host],
    request: ProbeRequest,
    *,
    limit: int = 32,
    timeout: float = 60.0,
    report: Report = ignore_progress,
) -> list[Probed]:
    """Probe hosts, all at once; the results come in the hosts' order.

    Args:
        hosts: which.
        request: what to look at besides what is always looked at.
        limit: hosts at the same time.
        timeout: seconds for one host's script.
        report: one Progress when the probe begins and one for each host that ended.
    """
    done = 0
    counting = Lock()
    report(Progress(phase="probe", text=f"looking at {len(hosts)} hosts", done=0, total=len(hosts)))

    def work(host: Host) -> Probed:
        nonlocal done
        probed = probe_host(host, request, timeout=timeout)
        result = probed.result
        text = f"seen in {result.seconds:.2f} s" if isinstance(result, Snapshot) else f"not seen: {result.reason}"
        with counting:
            done += 1
            report(Progress(phase="probe", subject=host.name, text=text, done=done, total=len(hosts), finished=True))
        return probed

    return run_on_all(hosts, work, limit=limit)


def probe_host(host: Host, request: ProbeRequest, *, timeout: float = 60.0) -> Probed:
    """Probe one host; whatever keeps it from being observed is told in NotObserved."""
    try:
        transport = connect(host.connection)
        try:
            return _probe(host, transport, request, timeout)
        finally:
            transport.close()
    except GpuprovError as error:
        told = error.diagnostics[0]
        missing = NotObserved(host=host.name, code=told.code, reason=told.summary, detail=told.detail, hint=told.hint)
        return Probed(result=missing)


def _probe(host: Host, transport: Transport, request: ProbeRequest, timeout: float) -> Probed:
    token = f"@gpuprov-{secrets.token_hex(12)}"
    script = build_script(COLLECTORS, request, token=token, limit=max(5, int(timeout - _MARGIN)))
    taken = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    outcome, why = _run(transport, script, timeout, has_password=host.connection.become.password is not None)
    try:
        recording = make_recording(
            outcome.stdout.decode("utf-8", "replace"),
            token=token,
            host=host.name,
            taken=taken,
            collectors=COLLECTORS,
            request=request,
            why=why,
        )
    except BrokenOutputError as error:
        said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = f"{error} (status {outcome.status})" + (f": {said[-1]}" if said else "")
        return Probed(result=NotObserved(host=host.name, code="GP-PROBE-001", reason=reason))
    return Probed(result=snapshot_of(recording), recording=recording)


def _run(transport: Transport, script: str, timeout: float, *, has_password: bool) -> tuple[Outcome, str]:
    """Run the script as root, or as the user where root is refused; gives the reason then."""
    text = script.encode()
    try:
        return transport.run(WRAPPER, stdin=text, timeout=timeout, root=True), ""
    except GpuprovError as error:
        told = error.diagnostics[0]
        if told.code != "GP-SSH-005" or has_password:
            # A password that is wrong is the user's to mend; trying on would only hide it.
            raise
        return transport.run(WRAPPER, stdin=text, timeout=timeout), told.summary
