"""Trusting instances that were there already: by their console, or a fingerprint of the spec; never blindly."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Protocol

from gpuprov.cloud.console import find_host_keys
from gpuprov.cloud.ssh_keys import PublicKey
from gpuprov.cloud.types import MadeHost
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.provision.host_keys import RECORD, Record, accept, address_of, read_record, update_record
from gpuprov.transport.known_hosts import fingerprint
from gpuprov.transport.offered import offered_keys

_SECONDS: Final = 10.0
_WIDTH: Final = 16

Offered = Callable[..., Iterator[tuple[str, bytes]]]
"""Shows the keys of a server; see `gpuprov.transport.offered`."""


class Account(Protocol):
    """What is asked of the account; see `gpuprov.cloud.account`."""

    def console(self, instance_id: str) -> str:
        """The console output of one instance."""


def trust_existing(
    account: Account,
    hosts: Sequence[MadeHost],
    fingerprints: Mapping[str, str],
    *,
    folder: Path,
    offered: Offered = offered_keys,
) -> dict[str, Diagnostic]:
    """Have a verified host key of each instance on record.

    An instance that has one on record is not asked again. A fingerprint of the spec counts more than the console:
    it may show keys that somebody has changed since, or none, since EC2 keeps its last 64 KiB only.

    Args:
        account: where consoles are read.
        hosts: running instances.
        fingerprints: instance id -> fingerprint.
        folder: of the record.
        offered: shows the keys of a server.

    Returns:
        Host's name -> why it is not trusted: GP-CLOUD-017; GP-CLOUD-016 where it does not answer.
    """
    record = read_record(folder)
    refused = {
        host.name: told
        for host in hosts
        if (told := _contradicted(host, record, fingerprints.get(host.instance_id, ""))) is not None
    }
    new = [host for host in hosts if host.instance_id not in record]
    if not new:
        return refused
    with ThreadPoolExecutor(max_workers=min(len(new), _WIDTH)) as threads:
        looks = threads.map(lambda host: _keys(account, host, fingerprints.get(host.instance_id, ""), offered), new)
        answers = list(zip(new, looks, strict=True))

    def take_in(record: Record) -> Record:
        for host, found in answers:
            if isinstance(found, Diagnostic):
                refused[host.name] = found
                continue
            try:
                record = accept(record, host, found)
            except GpuprovError as error:
                refused[host.name] = error.diagnostics[0]
        return record

    update_record(folder, take_in)
    return refused


def _contradicted(host: MadeHost, record: Record, given: str) -> Diagnostic | None:
    known = record.get(host.instance_id)
    if known is None or not given or given in {fingerprint(key.blob) for key in known.keys}:
        return None
    return _unknown(
        host,
        f"the fingerprint that the spec gives of {host.instance_id} is not that of the key on record",
        "\n".join((f"the spec says {given}", *(f"on record is {k.type} {fingerprint(k.blob)}" for k in known.keys))),
        f"find out which is right; when it is the spec's, delete the instance's entry in {RECORD}",
    )


def _keys(account: Account, host: MadeHost, given: str, offered: Offered) -> tuple[PublicKey, ...] | Diagnostic:
    if given:
        return _vouched(host, given, offered)
    found = find_host_keys(account.console(host.instance_id))
    return found or _unknown(
        host,
        f"the console output of {host.instance_id} holds no host key, and the spec gives no fingerprint of it",
        "EC2 keeps the last 64 KiB of output: an instance that has run for long may have shown its keys before that",
        f"write it into pools.{host.pool}.cloud.existing.fingerprints, from a place that you trust: on the host,"
        " `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints it",
    )


def _vouched(host: MadeHost, given: str, offered: Offered) -> tuple[PublicKey, ...] | Diagnostic:
    shown = []
    try:
        for kind, blob in offered(address_of(host), seconds=_SECONDS):
            if fingerprint(blob) == given:
                return (PublicKey(type=kind, blob=blob),)
            shown.append(f"{kind} {fingerprint(blob)}")
    except OSError as error:
        return Diagnostic(
            code="GP-CLOUD-016",
            address=host.name,
            summary=f"the instance {host.instance_id} does not answer on {address_of(host)}: {error}",
            hint="check that its security group lets this machine in, and that it has a way to be reached",
        )
    return _unknown(
        host,
        f"the host at {address_of(host)} shows no key with the fingerprint of the spec",
        f"the spec says {given}\n" + "\n".join(f"it shows {line}" for line in shown),
        "find out which is right before anything else: another machine may answer at this address",
    )


def _unknown(host: MadeHost, summary: str, detail: str, hint: str) -> Diagnostic:
    return Diagnostic(code="GP-CLOUD-017", address=host.name, summary=summary, detail=detail, hint=hint)
