"""Reboot a host, and know that it did: its boot id has changed."""

import threading
import time
from collections.abc import Callable
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report
from gpuprov.transport.protocol import Transport

_BOOT_ID: Final = "cat /proc/sys/kernel/random/boot_id"
_COMMAND_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 1.0

Connect = Callable[[Host], Transport]
"""Opens a new connection to a host, or raises GpuprovError."""


def reboot_host(host: Host, *, connect: Connect, timeout: float, report: Report, cancel: threading.Event) -> None:
    """Reboot a host and wait until it answers with another boot id.

    Args:
        host: the host.
        connect: how to reach it.
        timeout: seconds to wait for it; a GPU server may take ten minutes to come back.
        report: where progress goes.
        cancel: ends the waiting (the host goes on booting).

    Raises:
        GpuprovError: GP-ROLL-001 when it did not come back, or came back with the same boot id.
    """
    before = _order_reboot(host, connect)
    started = time.monotonic()
    last = "rebooting"
    while time.monotonic() - started < timeout:
        if cancel.is_set():
            raise GpuprovError(
                Diagnostic(
                    code="GP-RUN-003",
                    address=host.name,
                    summary="interrupted while the host was rebooting",
                    hint="run the same command again: it looks at the host anew and goes on from there",
                )
            )
        report(Progress(phase="reboot", subject=host.name, text=f"{last} ({time.monotonic() - started:.0f} s)"))
        cancel.wait(_POLL_SECONDS)
        try:
            now = _read_boot_id(host, connect)
        except GpuprovError as error:
            last = error.diagnostics[0].summary
            continue
        if now != before:
            report(Progress(phase="reboot", subject=host.name, text="boot id changed", finished=True))
            return
        last = "still the old boot"
    raise GpuprovError(
        Diagnostic(
            code="GP-ROLL-001",
            address=host.name,
            summary=f"the host did not come back within {timeout:.0f} s of its reboot",
            detail=f"boot id before: {before}\nlast seen: {last}",
            hint="look at its console; when it answers again, the same command goes on from what it finds",
        )
    )


def _order_reboot(host: Host, connect: Connect) -> str:
    transport = connect(host)
    try:
        before = _boot_id(transport, host)
        # The answer may never arrive: sshd is among the first things that a shutdown ends.
        try:
            outcome = transport.run("systemctl reboot", timeout=_COMMAND_SECONDS, root=True)
        except GpuprovError as error:
            if error.diagnostics[0].code not in {"GP-SSH-006", "GP-SSH-007"}:
                raise
        else:
            if outcome.status not in {0, 129, 143, 255}:
                raise GpuprovError(
                    Diagnostic(
                        code="GP-ROLL-001",
                        address=host.name,
                        summary=f"the host refused to reboot (status {outcome.status})",
                        detail=outcome.stderr.decode(errors="replace").strip(),
                        hint="run `systemctl reboot` on the host to see why; inhibitors are shown by `systemd-inhibit`",
                    )
                )
    finally:
        transport.close()
    return before


def _read_boot_id(host: Host, connect: Connect) -> str:
    transport = connect(host)
    try:
        return _boot_id(transport, host)
    finally:
        transport.close()


def _boot_id(transport: Transport, host: Host) -> str:
    outcome = transport.run(_BOOT_ID, timeout=_COMMAND_SECONDS)
    boot_id = outcome.stdout.decode(errors="replace").strip()
    if outcome.status != 0 or not boot_id:
        raise GpuprovError(
            Diagnostic(
                code="GP-SSH-007",
                address=host.name,
                summary="the host did not tell its boot id",
                detail=outcome.stderr.decode(errors="replace").strip(),
            )
        )
    return boot_id
