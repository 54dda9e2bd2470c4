"""All collectors, in the order in which a recording shows them.

Owns: one module for each part of a host.
Takes: nothing but the request.
Gives: COLLECTORS and BY_NAME.
Must not: run anything; commands are text here, and parsers are pure.
"""

from typing import Final

from gpuprov.probe.collector import Collector
from gpuprov.probe.collectors import (
    accounts,
    busy,
    cdi,
    ceiling,
    clock,
    containerd,
    cuda,
    daemon_json,
    dkms,
    engine,
    exporters,
    files,
    foundation,
    hardware,
    host,
    kept,
    kernel_log,
    kernels,
    module,
    mounts,
    network,
    nouveau,
    own,
    packages,
    pci,
    rdma,
    room,
    secure_boot,
    services,
    smi,
    sources,
    sshd,
    tools,
    topology,
    tuning,
    updates,
)

COLLECTORS: Final[tuple[Collector, ...]] = (
    *host.COLLECTORS,
    *hardware.COLLECTORS,
    *kernels.COLLECTORS,
    *pci.COLLECTORS,
    *smi.COLLECTORS,
    *ceiling.COLLECTORS,
    *topology.COLLECTORS,
    *nouveau.COLLECTORS,
    *module.COLLECTORS,
    *dkms.COLLECTORS,
    *secure_boot.COLLECTORS,
    *kernel_log.COLLECTORS,
    *cuda.COLLECTORS,
    *tools.COLLECTORS,
    *engine.COLLECTORS,
    *daemon_json.COLLECTORS,
    *containerd.COLLECTORS,
    *cdi.COLLECTORS,
    *rdma.COLLECTORS,
    *packages.COLLECTORS,
    *services.COLLECTORS,
    *files.COLLECTORS,
    *exporters.COLLECTORS,
    *sources.COLLECTORS,
    *updates.COLLECTORS,
    *accounts.COLLECTORS,
    *sshd.COLLECTORS,
    *mounts.COLLECTORS,
    *network.COLLECTORS,
    *tuning.COLLECTORS,
    *clock.COLLECTORS,
    *room.COLLECTORS,
    *busy.COLLECTORS,
    *foundation.COLLECTORS,
    *own.COLLECTORS,
    *kept.COLLECTORS,
)
BY_NAME: Final = {collector.name: collector for collector in COLLECTORS}
