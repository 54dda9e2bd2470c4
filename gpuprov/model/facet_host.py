"""Facets of the host itself: OS, packages, files, services, access, and what gpuprov keeps there."""

from typing import Final

from gpuprov.model.facet import Cost, Facet, ParityClass, facet_row

_M, _T, _I = ParityClass.MUST_EQUAL, ParityClass.TARGET_SPECIFIC, ParityClass.INFORMATIONAL

ROWS: Final[tuple[Facet, ...]] = (
    facet_row("host.name", "", "name", "equal", _T, Cost.OBSERVED, "names tell hosts apart"),
    facet_row("host.os", "os", "os", "equal", _M, Cost.REPLACEMENT, "packages are built for one release of one OS"),
    facet_row("host.arch", "lock", "arch", "equal", _M, Cost.REPLACEMENT, "packages are built for one architecture"),
    facet_row(
        "host.kernel.release", "", "kernel", "equal", _I, Cost.OBSERVED, "kernel modules are built for one kernel"
    ),
    facet_row("host.boot_id", "", "boot", "equal", _T, Cost.OBSERVED, "proves that a reboot happened"),
    facet_row("host.uptime", "", "boot", "equal", _T, Cost.OBSERVED, "how long the host has run"),
    facet_row(
        "host.nouveau", "", "nouveau", "equal", _I, Cost.OBSERVED, "while it holds a GPU, no other driver can have it"
    ),
    facet_row("package[*].version", "lock", "packages", "version", _M, Cost.NOTHING, "the locked stack"),
    facet_row(
        "package[*].state", "lock", "packages", "equal", _M, Cost.NOTHING, "a half-configured package does not work"
    ),
    facet_row(
        "package[*].held", "lock", "packages", "equal", _M, Cost.NOTHING, "without a hold the next upgrade moves it"
    ),
    facet_row("file[*].sha256", "files", "files", "equal", _M, Cost.NOTHING, "the content of a managed file"),
    facet_row("file[*].mode", "files", "files", "equal", _M, Cost.NOTHING, "who may read and write a managed file"),
    facet_row("file[*].owner", "files", "files", "equal", _M, Cost.NOTHING, "who owns a managed file"),
    facet_row("file[*].group", "files", "files", "equal", _M, Cost.NOTHING, "which group owns a managed file"),
    facet_row(
        "file[*].text", "stack.container", "files", "contains", _M, Cost.RESTART, "keys merged into a shared file"
    ),
    facet_row("service[*].active", "stack", "services", "equal", _M, Cost.NOTHING, "a stopped service does not serve"),
    facet_row(
        "service[*].enabled",
        "stack",
        "services",
        "equal",
        _M,
        Cost.NOTHING,
        "a disabled service is gone after a reboot",
    ),
    facet_row(
        "exporter[*].answers", "monitoring.exporters", "exporters", "equal", _M, Cost.RESTART, "alerts need the metrics"
    ),
    facet_row("exporter[*].metrics", "", "exporters", "set", _I, Cost.OBSERVED, "alerts name metrics that must exist"),
    facet_row("apt.sources", "", "sources", "equal", _I, Cost.OBSERVED, "where the next package would come from"),
    facet_row(
        "apt.dpkg", "lock", "packages", "equal", _M, Cost.NOTHING, "a broken package system refuses every change"
    ),
    facet_row("gpuprov.owned", "", "owned", "equal", _T, Cost.OBSERVED, "what gpuprov made on the host"),
    facet_row("gpuprov.proven", "", "proven", "equal", _T, Cost.OBSERVED, "the want that the last proof succeeded for"),
    facet_row("gpuprov.transaction", "", "transaction", "equal", _T, Cost.OBSERVED, "a package transaction of gpuprov"),
)
