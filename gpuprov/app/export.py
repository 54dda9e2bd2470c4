"""`export ansible`: a folder with which plain ansible-playbook, or AWX, brings racked hosts to the lock."""

import shutil
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuprov.app.access import Access
from gpuprov.app.hosts import Fleet, open_fleet
from gpuprov.app.site import Site, open_lock, open_site, today
from gpuprov.app.staleness import refuse_stale_lock
from gpuprov.compare.waive import covers, expired
from gpuprov.converge.export_text import INVENTORY, MARK, PLAYBOOKS, UV, need_uv, project_texts
from gpuprov.converge.locate import find_playbooks
from gpuprov.converge.types import RunDocuments
from gpuprov.converge.uv import uv_program
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.store.files import make_folder, read_text_if_there, write_text
from gpuprov.want.expectations import expectations
from gpuprov.want.narrow import leave_alone
from gpuprov.want.types import HostWant, Owned

_PRIVATE: Final = 0o600
"""Spec, lock and files of hosts may hold what not everybody should read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    hosts: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def export_ansible(spec: Path, access: Access, folder: Path) -> Exported:
    """Write the project; no host is looked at.

    Args:
        spec: the spec.
        access: the inventory and its limit.
        folder: a new folder, an empty one, or an earlier export, which is replaced as a whole.

    Raises:
        GpuprovError: the lock is stale or missing; GP-RUN-004 when the folder holds something else; GP-DOC-007.
    """
    site = open_site(spec)
    lock, lock_text = open_lock(site)
    refuse_stale_lock(site, lock)
    fleet = open_fleet(site, lock, access)
    _refuse_foreign(folder)
    waived = {name: _waived(want, site) for name, want in fleet.wants.items()}
    texts = project_texts(
        fleet.hosts,
        {name: leave_alone(want, waived[name]) if waived[name] else want for name, want in fleet.wants.items()},
        RunDocuments(spec=site.text, lock=lock_text),
        when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    )
    programs = {UV: Path(uv_program())} if need_uv(fleet.wants) else {}
    _write(folder, texts, {PLAYBOOKS: find_playbooks(), **programs})
    left = sorted({address for addresses in waived.values() for address in addresses})
    told = (*site.warnings, *fleet.warnings, *_passwords(fleet), *_left_alone(left))
    return Exported(folder=folder, hosts=tuple(host.name for host in fleet.hosts), diagnostics=told)


def _waived(want: HostWant, site: Site) -> list[str]:
    """What a waiver covers today is left as it is on the host, whatever that may be."""
    valid = [waiver for waiver in site.spec.waivers if not expired(waiver, today())]
    addresses = [expected.address for expected in expectations(want, Owned())]
    return [address for address in addresses if any(covers(waiver, address) for waiver in valid)]


def _refuse_foreign(folder: Path) -> None:
    empty = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if empty or (folder.is_dir() and (read_text_if_there(folder / INVENTORY) or "").startswith(MARK)):
        return
    raise GpuprovError(
        Diagnostic(
            code="GP-RUN-004",
            address=str(folder),
            summary="there is something else than an export",
            detail="nothing was written",
            hint="name a new folder, an empty one, or one that an earlier export made",
        )
    )


def _write(folder: Path, texts: Mapping[str, str], copies: Mapping[str, Path]) -> None:
    """Make the project beside its place and put it there as a whole.

    Args:
        folder: its place.
        texts: relative path -> text.
        copies: relative path -> file or folder that is copied there, in this order.
    """
    make_folder(folder.resolve().parent)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.resolve().parent))
    try:
        for name, text in texts.items():
            make_folder((beside / name).parent)
            write_text(beside / name, text, mode=_PRIVATE)
        for name, source in copies.items():
            if source.is_dir():
                shutil.copytree(source, beside / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                make_folder((beside / name).parent)
                shutil.copy2(source, beside / name)
        old = beside / ".old"
        if folder.exists():
            folder.rename(old)
        try:
            beside.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
        shutil.rmtree(folder / ".old", ignore_errors=True)
    except OSError as error:
        summary = f"cannot write {folder}: {(error.strerror or str(error)).lower()}"
        raise GpuprovError(Diagnostic(code="GP-DOC-007", address=str(folder), summary=summary)) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _passwords(fleet: Fleet) -> Sequence[Diagnostic]:
    def told(names: Collection[str], what: str, option: str) -> list[Diagnostic]:
        if not names:
            return []
        return [
            Diagnostic(
                code="GP-RUN-012",
                address=", ".join(sorted(names)),
                summary=f"the {what} of {len(names)} host(s) is not exported",
                hint=f"give it to ansible-playbook with {option}, or keep it in a vault of its own",
                severity=Severity.NOTE,
            )
        ]

    login = {host.name for host in fleet.hosts if host.connection.password is not None}
    sudo = {host.name for host in fleet.hosts if host.connection.become.password is not None}
    return [*told(login, "login password", "--ask-pass"), *told(sudo, "sudo password", "--ask-become-pass")]


def _left_alone(addresses: Sequence[str]) -> Sequence[Diagnostic]:
    if not addresses:
        return ()
    return (
        Diagnostic(
            code="GP-RUN-012",
            summary=f"{len(addresses)} waived facet(s) are left as they are on the hosts",
            detail="\n".join(addresses),
            severity=Severity.NOTE,
        ),
    )
