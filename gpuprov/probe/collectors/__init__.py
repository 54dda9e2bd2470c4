"""All collectors, in the order in which a recording shows them.

Owns: one module for each part of a host.
Takes: nothing but the request.
Gives: COLLECTORS and BY_NAME.
Must not: run anything; commands are text here, and parsers are pure.
"""

from typing import Final

from gpuprov.probe.collector import Collector
from gpuprov.probe.collectors import (
    engine,
    exporters,
    files,
    gpu,
    host,
    module,
    own,
    packages,
    services,
    sources,
    tools,
)

COLLECTORS: Final[tuple[Collector, ...]] = (
    *host.COLLECTORS,
    *gpu.COLLECTORS,
    *module.COLLECTORS,
    *tools.COLLECTORS,
    *engine.COLLECTORS,
    *packages.COLLECTORS,
    *services.COLLECTORS,
    *files.COLLECTORS,
    *exporters.COLLECTORS,
    *sources.COLLECTORS,
    *own.COLLECTORS,
)
BY_NAME: Final = {collector.name: collector for collector in COLLECTORS}
