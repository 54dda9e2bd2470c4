"""Facets: facts that can also be wanted; one table says how each is compared and what changing it costs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ParityClass(StrEnum):
    """How two places must agree about a facet."""

    MUST_EQUAL = "must-equal"
    """Another value is a finding."""
    MUST_BE_COMPATIBLE = "must-be-compatible"
    """Another value is a finding unless a named rule calls the two compatible."""
    TARGET_SPECIFIC = "target-specific"
    """Differs by nature; listed, without effect on the status."""
    INFORMATIONAL = "informational"
    """Worth showing; without effect on the status."""


class Cost(StrEnum):
    """What changing a facet costs the people who use the host, in rising order."""

    NOTHING = "nothing"
    RESTART = "restart"
    """A service restarts."""
    REBOOT = "reboot"
    REPLACEMENT = "replacement"
    """The host itself would be replaced."""
    OBSERVED = "observed only"
    """Nothing in gpuprov changes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Facet:
    """One row of the table."""

    pattern: str
    """Address, with `*` for a member."""
    want: str
    """Where the want comes from: a path of the spec, `lock`, `pool`, or `` (observed only)."""
    collector: str
    """Name of the collector that observes it."""
    comparator: str
    """Name of the comparator in compare/: equal, version, upstream, contains, set."""
    parity: ParityClass
    cost: Cost
    reason: str
    """Why it matters, in one sentence; shown with a finding."""


_M, _T, _I = ParityClass.MUST_EQUAL, ParityClass.TARGET_SPECIFIC, ParityClass.INFORMATIONAL


def _row(
    pattern: str, want: str, collector: str, comparator: str, parity: ParityClass, cost: Cost, reason: str
) -> Facet:
    return Facet(
        pattern=pattern, want=want, collector=collector, comparator=comparator, parity=parity, cost=cost, reason=reason
    )


FACETS: Final[tuple[Facet, ...]] = (
    _row("host.name", "", "name", "equal", _T, Cost.OBSERVED, "names tell hosts apart"),
    _row("host.os", "os", "os", "equal", _M, Cost.REPLACEMENT, "packages are built for one release of one OS"),
    _row("host.arch", "lock", "arch", "equal", _M, Cost.REPLACEMENT, "packages are built for one architecture"),
    _row("host.kernel.release", "", "kernel", "equal", _I, Cost.OBSERVED, "kernel modules are built for one kernel"),
    _row("host.boot_id", "", "boot", "equal", _T, Cost.OBSERVED, "proves that a reboot happened"),
    _row("host.uptime", "", "boot", "equal", _T, Cost.OBSERVED, "how long the host has run"),
    _row(
        "host.nouveau", "", "nouveau", "equal", _I, Cost.OBSERVED, "while it holds a GPU, no other driver can have it"
    ),
    _row(
        "gpu.count", "pools.*.gpu.per_host", "pci", "equal", _M, Cost.OBSERVED, "a job that asks for 8 GPUs fails on 7"
    ),
    _row("gpu.devices", "", "pci", "set", _M, Cost.OBSERVED, "PCI ids: the GPUs themselves, also without a driver"),
    _row("gpu.models", "pools.*.gpu.model", "smi", "set", _M, Cost.OBSERVED, "kernels are built for one architecture"),
    _row("stack.driver.on_disk", "lock", "module", "upstream", _M, Cost.REBOOT, "the module that the next boot loads"),
    _row("stack.driver.loaded", "lock", "loaded", "upstream", _M, Cost.REBOOT, "the module that jobs use now"),
    _row("stack.driver.nvml", "lock", "smi", "upstream", _M, Cost.REBOOT, "what CUDA programs see"),
    _row(
        "stack.driver.modules",
        "stack.driver.modules",
        "loaded",
        "equal",
        _M,
        Cost.REBOOT,
        "open and proprietary modules support different GPUs",
    ),
    _row("stack.driver.kernels", "", "module", "equal", _I, Cost.OBSERVED, "kernels that have a driver module"),
    _row("stack.cuda.toolkits", "", "cuda", "set", _I, Cost.OBSERVED, "toolkits that builds on the host find"),
    _row("stack.container.version", "", "docker", "equal", _I, Cost.OBSERVED, "the engine that runs containers"),
    _row(
        "stack.container.runtimes",
        "stack.container",
        "runtimes",
        "set",
        _M,
        Cost.RESTART,
        "containers reach GPUs through it",
    ),
    _row("stack.container.toolkit", "", "toolkit", "upstream", _M, Cost.OBSERVED, "what gives a container its GPUs"),
    _row(
        "stack.fabric.version",
        "",
        "fabric",
        "upstream",
        _M,
        Cost.OBSERVED,
        "not equal to the driver, CUDA fails with error 802",
    ),
    _row("stack.dcgm.version", "", "dcgm", "upstream", _M, Cost.OBSERVED, "metrics depend on it"),
    _row("package[*].version", "lock", "packages", "version", _M, Cost.NOTHING, "the locked stack"),
    _row("package[*].state", "lock", "packages", "equal", _M, Cost.NOTHING, "a half-configured package does not work"),
    _row("package[*].held", "lock", "packages", "equal", _M, Cost.NOTHING, "without a hold the next upgrade moves it"),
    _row("file[*].sha256", "files", "files", "equal", _M, Cost.NOTHING, "the content of a managed file"),
    _row("file[*].mode", "files", "files", "equal", _M, Cost.NOTHING, "who may read and write a managed file"),
    _row("file[*].owner", "files", "files", "equal", _M, Cost.NOTHING, "who owns a managed file"),
    _row("file[*].group", "files", "files", "equal", _M, Cost.NOTHING, "which group owns a managed file"),
    _row("file[*].text", "stack.container", "files", "contains", _M, Cost.RESTART, "keys merged into a shared file"),
    _row("service[*].active", "stack", "services", "equal", _M, Cost.NOTHING, "a stopped service does not serve"),
    _row(
        "service[*].enabled",
        "stack",
        "services",
        "equal",
        _M,
        Cost.NOTHING,
        "a disabled service is gone after a reboot",
    ),
    _row(
        "exporter[*].answers", "monitoring.exporters", "exporters", "equal", _M, Cost.RESTART, "alerts need the metrics"
    ),
    _row("exporter[*].metrics", "", "exporters", "set", _I, Cost.OBSERVED, "alerts name metrics that must exist"),
    _row("apt.sources", "", "sources", "equal", _I, Cost.OBSERVED, "where the next package would come from"),
    _row("apt.dpkg", "lock", "packages", "equal", _M, Cost.NOTHING, "a broken package system refuses every change"),
    _row("gpuprov.owned", "", "owned", "equal", _T, Cost.OBSERVED, "what gpuprov made on the host"),
    _row("gpuprov.proven", "", "proven", "equal", _T, Cost.OBSERVED, "the want that the last proof succeeded for"),
    _row("gpuprov.transaction", "", "transaction", "equal", _T, Cost.OBSERVED, "a package transaction of gpuprov"),
)

BY_PATTERN: Final = {facet.pattern: facet for facet in FACETS}
