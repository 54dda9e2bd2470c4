"""`output`: what the cloud holds for a site, by the spec's own names; read from the stack's state alone."""

from pathlib import Path

from gpuprov.app.cloud_existing import reachable
from gpuprov.app.cloud_records import unknown_name
from gpuprov.app.cloud_site import cloud_folder, read_stack
from gpuprov.app.site import open_site
from gpuprov.cloud.recovery import explain
from gpuprov.cloud.types import Made, MadeHost
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection
from gpuprov.model.output import Output, OutputHost
from gpuprov.provision.cloud import cloud_hosts


def output(path: Path, name: str | None) -> tuple[Output, tuple[Diagnostic, ...]]:
    """Read what the stack holds, and what is to be told beside it.

    Args:
        path: the spec.
        name: a host, a storage, or a volume as STORAGE/HOST; None takes everything.

    Raises:
        GpuprovError: GP-SPEC-008 without a cloud target; GP-CLOUD-026 for a name that the stack does not hold;
            GP-CLOUD-013 for a broken state.
    """
    site = open_site(path)
    state, folder = read_stack(site), cloud_folder(site)
    made = reachable(site, state.made)
    reach = {host.name: host.connection for host in cloud_hosts(made, site.spec, folder=folder)}
    hosts = tuple(_row(host, reach[host.name]) for host in made.hosts)
    whole = Output(hosts=hosts, buckets=state.made.buckets, volumes=state.made.volumes)
    told = explain(state.pending)
    if name is None:
        return whole, told
    found = Output(
        hosts=tuple(host for host in hosts if host.name == name),
        buckets={key: value for key, value in whole.buckets.items() if key == name},
        volumes={key: value for key, value in whole.volumes.items() if name in {key, key.partition("/")[0]}},
    )
    if not (found.hosts or found.buckets or found.volumes):
        raise GpuprovError(unknown_name(name, _names(made)))
    return found, told


def _row(host: MadeHost, connection: Connection) -> OutputHost:
    return OutputHost(
        name=host.name,
        pool=host.pool,
        instance=host.instance_id,
        type=host.type,
        image=host.image,
        zone=host.zone,
        private_address=host.private_address,
        public_address=host.public_address,
        address=connection.address,
        user=connection.user or "",
        known_hosts=connection.known_hosts[0] if connection.known_hosts else "",
    )


def _names(made: Made) -> list[str]:
    storage = {name.partition("/")[0] for name in made.volumes}
    return sorted({*(host.name for host in made.hosts), *made.buckets, *made.volumes, *storage})
