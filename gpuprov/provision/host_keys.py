"""SSH host keys of cloud instances: verified once by the console, kept by instance, written as known_hosts by address.

An instance keeps its id and its host key for life, and not its public address: so the record is by id
(`host_keys.json`), and known_hosts is made from it whenever an address moves.
"""

import fcntl
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gpuprov.cloud.ssh_keys import PublicKey, find_key
from gpuprov.cloud.types import MadeHost
from gpuprov.document.envelope import open_document, seal
from gpuprov.document.shape import Fields
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import make_folder, read_text_if_there, write_text
from gpuprov.transport.known_hosts import fingerprint

KNOWN_HOSTS: Final = "known_hosts"
RECORD: Final = "host_keys.json"
KIND: Final = "HostKeys"
_LOCK: Final = "host_keys.lock"
_MARK: Final = "# Written by gpuprov from host_keys.json. Keys were verified by the instances' console output.\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class HostKeys:
    """The verified host keys of one instance."""

    address: str
    """Where it was reached last; empty since another instance has the address."""
    keys: tuple[PublicKey, ...]


Record = Mapping[str, HostKeys]
"""Instance id -> its keys."""


def address_of(host: MadeHost) -> str:
    """The address by which an instance is reached from here: its public one where it has one."""
    return host.public_address or host.private_address


def read_record(folder: Path) -> Record:
    """Read the record; empty when there is none.

    Raises:
        GpuprovError: GP-DOC codes when it is damaged: without it no host can be trusted, so it is not passed over.
    """
    file = folder / RECORD
    text = read_text_if_there(file)
    if text is None:
        return {}
    body = Fields(open_document(text, str(file), KIND), str(file))
    return {
        name: HostKeys(
            address=row.text("address"),
            keys=tuple(key for line in row.texts("keys") if (key := find_key(line)) is not None),
        )
        for name, row in body.table("instances").items()
    }


def update_record(folder: Path, change: Callable[[Record], Record]) -> Record:
    """Change the record while nobody else does: `status` may look while an `up` takes new hosts in.

    Args:
        folder: of the stack.
        change: gets the record as it is now, and gives the one to keep; it must not wait for anything.

    Raises:
        GpuprovError: as `read_record`.
    """
    make_folder(folder)
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        record = change(read_record(folder))
        _write(folder, record)
        return record
    finally:
        os.close(descriptor)


def _write(folder: Path, record: Record) -> None:
    """Write the record and the known_hosts file that follows from it, each atomically and only when it changed."""
    body: dict[str, Any] = {
        "instances": {
            name: {"address": keys.address, "keys": [key.text for key in keys.keys]}
            for name, keys in sorted(record.items())
        }
    }
    for name, text in ((RECORD, seal(KIND, body)), (KNOWN_HOSTS, known_hosts_text(record))):
        if read_text_if_there(folder / name) != text:
            write_text(folder / name, text)


def known_hosts_text(record: Record) -> str:
    """The lines of known_hosts, by address."""
    lines = sorted(f"{keys.address} {key.text}" for keys in record.values() if keys.address for key in keys.keys)
    return _MARK + "".join(f"{line}\n" for line in lines)


def locate(record: Record, hosts: Iterable[MadeHost]) -> Record:
    """The record with the addresses that the instances have now; an address belongs to one instance only."""
    now = {host.instance_id: address_of(host) for host in hosts}
    taken = set(now.values())
    moved = {}
    for name, keys in record.items():
        if name in now:
            moved[name] = replace(keys, address=now[name])
        else:
            moved[name] = replace(keys, address="") if keys.address in taken else keys
    return moved


def accept(record: Record, host: MadeHost, found: Sequence[PublicKey]) -> Record:
    """The record with the keys that an instance's console shows.

    Raises:
        GpuprovError: GP-CLOUD-017 when it shows another key of a type that is on record for the same instance.
    """
    before = record.get(host.instance_id)
    known = {key.type: key for key in before.keys} if before else {}
    for key in found:
        old = known.get(key.type, key)
        if old != key:
            raise GpuprovError(_changed(host, old, key))
        known[key.type] = key
    keys = tuple(sorted(known.values()))
    return {**record, host.instance_id: HostKeys(address=address_of(host), keys=keys)}


def forget(folder: Path, instance_ids: Iterable[str]) -> None:
    """Take instances that are gone out of the record and out of known_hosts."""
    gone = set(instance_ids)
    if gone & set(read_record(folder)):
        update_record(folder, lambda record: {name: keys for name, keys in record.items() if name not in gone})


def forget_all(folder: Path) -> None:
    """Take away the record of a stack that is gone, and its known_hosts."""
    for name in (RECORD, KNOWN_HOSTS, _LOCK):
        (folder / name).unlink(missing_ok=True)


def _changed(host: MadeHost, old: PublicKey, new: PublicKey) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-017",
        address=host.name,
        summary=f"the host key of the instance {host.instance_id} changed",
        detail=f"on record: {old.type} {fingerprint(old.blob)}\nits console: {new.type} {fingerprint(new.blob)}",
        hint="an instance keeps its host key: find out who changed it. If it was you, delete the instance's entry in"
        f" {RECORD}, beside {KNOWN_HOSTS}",
    )
