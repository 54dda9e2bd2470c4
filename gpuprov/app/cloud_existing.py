"""Instances that were there already as hosts of a site: looked for, trusted, and kept on record.

The record is for commands that ask no account, such as `ssh` and `parity`: they know these hosts as of the last look.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from gpuprov.app.cloud_hosts import as_last_reached
from gpuprov.app.cloud_site import CloudSite, cloud_folder
from gpuprov.app.site import Site
from gpuprov.app.targets import existing_pools, made_names
from gpuprov.cloud.existing import take_existing
from gpuprov.cloud.types import InstanceHealth, InstanceState, Made, MadeHost
from gpuprov.document.envelope import open_document, seal
from gpuprov.document.shape import Fields
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.snapshot import NotObserved
from gpuprov.provision.existing import trust_existing
from gpuprov.provision.host_keys import forget
from gpuprov.store.files import make_folder, read_text_if_there, write_text

KIND: Final = "ExistingHosts"
_RECORD: Final = "existing.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Existing:
    """What was found of them."""

    made: Made = field(default_factory=Made)
    """Those that run and are trusted."""
    absent: Mapping[str, NotObserved] = field(default_factory=dict)
    """The others, each with the way out."""
    refused: tuple[Diagnostic, ...] = ()
    """Why the run must not go on."""


def look_for_existing(place: CloudSite, stack: Made) -> Existing:
    """Find a site's instances that were there already, and have a verified host key of each.

    Nothing is changed in AWS. What is on record for instances that are gone is forgotten.

    Args:
        place: the site with its account.
        stack: what its stack holds; these names are taken.
    """
    site = place.site
    pools = existing_pools(site)
    before = recorded_hosts(site)
    if not pools and not before:
        return Existing()
    names = {*made_names(site), *(host.name for host in stack.hosts)}
    taken = take_existing(pools, place.account.instances_with, made=names)
    _keep(place.folder, taken.hosts)
    there = {host.instance_id for host in taken.hosts}
    forget(place.folder, [host.instance_id for host in before if host.instance_id not in there])
    running = [host for host in taken.hosts if taken.health[host.instance_id].state is InstanceState.RUNNING]
    fingerprints = {
        instance: text
        for cloud in pools.values()
        if cloud.existing is not None
        for instance, text in cloud.existing.fingerprints.items()
    }
    strangers = trust_existing(place.account, running, fingerprints, folder=place.folder)
    absent = {name: _not_observed(name, told) for name, told in strangers.items()}
    for told in taken.refused:
        # Commands that only look go on: a pool of which nothing was found must not look like one without hosts.
        absent |= {pool: _not_observed(pool, told) for pool in pools if told.address == f"pools.{pool}.cloud.existing"}
    for host in taken.hosts:
        if host not in running:
            absent[host.name] = _not_running(host, taken.health[host.instance_id], place.cloud.region)
    return Existing(
        made=Made(hosts=tuple(host for host in running if host.name not in absent)),
        absent=absent,
        refused=taken.refused,
    )


def recorded_hosts(site: Site) -> tuple[MadeHost, ...]:
    """The instances that the last look found, for commands that ask no account.

    Raises:
        GpuprovError: GP-DOC codes when the record is damaged.
    """
    path = cloud_folder(site) / _RECORD
    text = read_text_if_there(path)
    if text is None:
        return ()
    return tuple(_host(row) for row in Fields(open_document(text, str(path), KIND), str(path)).rows("hosts"))


def reachable(site: Site, stack: Made) -> Made:
    """What the stack holds and what was there already, with the addresses at which hosts were reached last.

    Raises:
        GpuprovError: GP-DOC codes when a record is damaged.
    """
    whole = replace(stack, hosts=(*stack.hosts, *recorded_hosts(site)))
    return as_last_reached(whole, folder=cloud_folder(site))


def left_as_they_are(site: Site) -> tuple[Diagnostic, ...]:
    """A note for `destroy`: what gpuprov did not make is not its to delete, and keeps what is on it."""
    pools = existing_pools(site)
    if not pools:
        return ()
    return (
        Diagnostic(
            code="GP-CLOUD-077",
            address=f"pools.{next(iter(pools))}.cloud.existing",
            summary=f"instances that were there already stay, with their software: those of {', '.join(pools)}",
            detail=", ".join(host.name for host in recorded_hosts(site)),
            severity=Severity.NOTE,
        ),
    )


def _keep(folder: Path, hosts: tuple[MadeHost, ...]) -> None:
    text = seal(KIND, {"hosts": [asdict(host) for host in hosts]})
    if read_text_if_there(folder / _RECORD) != text:
        make_folder(folder)
        write_text(folder / _RECORD, text)


def _host(row: Fields) -> MadeHost:
    return MadeHost(
        name=row.text("name"),
        pool=row.text("pool"),
        instance_id=row.text("instance_id"),
        type=row.text("type"),
        image=row.text("image"),
        zone=row.text("zone"),
        private_address=row.text("private_address"),
        public_address=row.text("public_address"),
    )


def _not_observed(host: str, told: Diagnostic) -> NotObserved:
    return NotObserved(host=host, code=told.code, reason=told.summary, detail=told.detail, hint=told.hint)


def _not_running(host: MadeHost, health: InstanceHealth, region: str) -> NotObserved:
    start = f"start it: `aws ec2 start-instances --region {region} --instance-ids {host.instance_id}`"
    return NotObserved(
        host=host.name,
        code="GP-CLOUD-016",
        reason=f"the instance {host.instance_id} is {health.state}",
        hint="look again when it runs" if health.state is InstanceState.PENDING else start,
    )
