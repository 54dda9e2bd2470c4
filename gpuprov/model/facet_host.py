"""Facets of the host itself: OS, packages, files, services, access, and what gpuprov keeps there."""

from typing import Final

from gpuprov.model.facet import Cost, Facet, ParityClass, facet_row

_M, _C = ParityClass.MUST_EQUAL, ParityClass.MUST_BE_COMPATIBLE
_T, _I = ParityClass.TARGET_SPECIFIC, ParityClass.INFORMATIONAL

ROWS: Final[tuple[Facet, ...]] = (
    facet_row("host.name", "", "name", "equal", _T, Cost.OBSERVED, "names tell hosts apart"),
    facet_row("host.os", "os", "os", "equal", _M, Cost.REPLACEMENT, "packages are built for one release of one OS"),
    facet_row("host.arch", "lock", "arch", "equal", _M, Cost.REPLACEMENT, "packages are built for one architecture"),
    facet_row(
        "host.kernel.release",
        "stack.kernel",
        "kernel",
        "equal",
        _C,
        Cost.REBOOT,
        "kernel modules are built for one kernel",
        rule="kernel-has-driver",
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
    facet_row(
        "device[*].content", "storage", "devices", "equal", _M, Cost.NOTHING, "a disk is used with its file system"
    ),
    facet_row(
        "device[*].mounts", "storage", "devices", "set", _M, Cost.NOTHING, "programs find their data by its place"
    ),
    facet_row(
        "rights[*].entries", "access.groups", "rights", "set", _M, Cost.NOTHING, "who may use what is on a mounted disk"
    ),
    facet_row("share[*].type", "storage", "shares", "equal", _M, Cost.NOTHING, "programs find their data by its place"),
    facet_row(
        "share[*].source",
        "storage",
        "shares",
        "equal",
        _I,
        Cost.RESTART,
        "which server's data it is: another one in the rack than in the cloud",
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
    facet_row("gpuprov.pending", "", "owned", "equal", _T, Cost.NOTHING, "a step that a lost run left undone"),
    facet_row("gpuprov.proven", "", "proven", "equal", _T, Cost.OBSERVED, "the want that the last proof succeeded for"),
    facet_row("gpuprov.runs", "", "runs", "equal", _T, Cost.OBSERVED, "the runs that a rollback can go back to"),
    facet_row("gpuprov.archives", "", "archives", "equal", _T, Cost.OBSERVED, "what the host keeps for a rollback"),
    facet_row("gpuprov.transaction", "", "transaction", "equal", _T, Cost.OBSERVED, "a package transaction of gpuprov"),
    facet_row("host.accounts", "", "accounts", "equal", _I, Cost.OBSERVED, "where the names of users come from"),
    facet_row(
        "host.clock.correct",
        "",
        "clock",
        "equal",
        _M,
        Cost.OBSERVED,
        "with a wrong clock, certificates and tickets are refused",
    ),
    facet_row(
        "host.clock.offset",
        "",
        "clock",
        "equal",
        _T,
        Cost.OBSERVED,
        "seconds that the clock is ahead of the controller's",
    ),
    facet_row("host.clock.service", "", "clock", "equal", _I, Cost.OBSERVED, "what keeps the clock right"),
    facet_row(
        "host.clock.synchronised", "", "clock", "equal", _M, Cost.OBSERVED, "a clock that nothing keeps goes wrong"
    ),
    facet_row("host.clock.zone", "", "clock", "equal", _I, Cost.OBSERVED, "times in logs are in this zone"),
    facet_row("host.cpu.count", "", "hardware", "equal", _I, Cost.OBSERVED, "processors that jobs can have"),
    facet_row(
        "host.cpu.governor",
        "tuning.governor",
        "hardware",
        "equal",
        _M,
        Cost.NOTHING,
        "processors that save power make the same job slower",
    ),
    facet_row("host.cpu.model", "", "hardware", "equal", _I, Cost.OBSERVED, "what feeds the GPUs"),
    facet_row(
        "host.firewall.input",
        "",
        "firewall",
        "equal",
        _I,
        Cost.OBSERVED,
        "what is dropped when no rule lets it through",
    ),
    facet_row(
        "host.firewall.manager",
        "",
        "firewall",
        "equal",
        _I,
        Cost.OBSERVED,
        "what writes the rules of the packet filter",
    ),
    facet_row("host.firewall.rules", "", "firewall", "equal", _I, Cost.OBSERVED, "what may reach the host"),
    facet_row("host.firmware", "", "hardware", "equal", _I, Cost.OBSERVED, "firmware decides about PCIe and power"),
    facet_row(
        "host.hugepages",
        "",
        "hardware",
        "equal",
        _M,
        Cost.OBSERVED,
        "memory that is set aside for programs that ask for large pages",
    ),
    facet_row(
        "host.hugepages_transparent",
        "",
        "hardware",
        "equal",
        _M,
        Cost.OBSERVED,
        "large pages without asking change speed and memory use",
    ),
    facet_row(
        "host.iommu", "", "hardware", "equal", _I, Cost.OBSERVED, "GPUs reach each other faster without translation"
    ),
    facet_row("host.kernel.installed", "", "kernels", "set", _I, Cost.OBSERVED, "kernels that can be booted"),
    facet_row(
        "host.kernel.next", "stack.kernel", "kernels", "equal", _I, Cost.NOTHING, "the kernel that the next boot takes"
    ),
    facet_row(
        "host.kernel.options",
        "",
        "kernels",
        "set",
        _I,
        Cost.OBSERVED,
        "options of this boot decide about memory, IOMMU and mitigations",
    ),
    facet_row("host.memory", "", "hardware", "equal", _I, Cost.OBSERVED, "memory that jobs can have, in MiB"),
    facet_row("host.ports", "", "exporters", "set", _I, Cost.OBSERVED, "what the host offers to others"),
    facet_row("host.product", "", "hardware", "equal", _I, Cost.OBSERVED, "the machine, or the kind of instance"),
    facet_row(
        "host.reboot_required", "", "kernels", "equal", _I, Cost.OBSERVED, "packages whose update takes a reboot"
    ),
    facet_row(
        "host.ssh.keys", "access.groups", "sshd", "contains", _I, Cost.NOTHING, "where sshd looks for the keys of users"
    ),
    facet_row("host.sudo", "", "sudo", "set", _I, Cost.OBSERVED, "who may become root"),
    facet_row(
        "apt.conflicts",
        "",
        "sources",
        "equal",
        _M,
        Cost.OBSERVED,
        "apt reads no list at all while one repository has two keys",
    ),
    facet_row("apt.history", "", "history", "equal", _T, Cost.OBSERVED, "who moved packages of the stack, and when"),
    facet_row("apt.keys", "", "keys", "equal", _I, Cost.OBSERVED, "whose packages are trusted"),
    facet_row(
        "apt.origins", "", "origins", "equal", _I, Cost.OBSERVED, "who offers the installed packages of the stack"
    ),
    facet_row("apt.pins", "", "unattended", "equal", _I, Cost.OBSERVED, "which source goes before which"),
    facet_row("apt.unattended", "", "unattended", "equal", _M, Cost.OBSERVED, "packages move while nobody looks"),
    facet_row(
        "apt.unattended_blacklist", "lock", "unattended", "set", _I, Cost.NOTHING, "packages that stay when others move"
    ),
    facet_row(
        "apt.unattended_origins",
        "",
        "unattended",
        "set",
        _I,
        Cost.OBSERVED,
        "sources that move packages while nobody looks",
    ),
    facet_row(
        "apt.upgradable",
        "",
        "origins",
        "equal",
        _I,
        Cost.OBSERVED,
        "packages of the stack that the next upgrade would move",
    ),
    facet_row("disk[*].bytes", "", "disks", "equal", _T, Cost.OBSERVED, "size of a disk"),
    facet_row("disk[*].content", "", "disks", "set", _T, Cost.OBSERVED, "what a disk holds: it is not empty"),
    facet_row("disk[*].model", "", "disks", "equal", _T, Cost.OBSERVED, "what a disk is"),
    facet_row("disk[*].mounts", "", "disks", "set", _T, Cost.OBSERVED, "a disk that is mounted is in use"),
    facet_row(
        "disk[*].serial", "", "disks", "equal", _T, Cost.OBSERVED, "tells disks apart: their names change at every boot"
    ),
    facet_row("disk[*].volume", "", "disks", "equal", _T, Cost.OBSERVED, "the EBS volume behind a disk"),
    facet_row(
        "group[*].gid",
        "access.groups",
        "accounts",
        "equal",
        _I,
        Cost.NOTHING,
        "files on shared storage belong to numbers, not names",
    ),
    facet_row(
        "group[*].members",
        "access.groups",
        "accounts",
        "members",
        _I,
        Cost.NOTHING,
        "groups give access to GPUs, containers and data",
    ),
    facet_row("interface[*].driver", "", "interfaces", "equal", _T, Cost.OBSERVED, "what drives a network interface"),
    facet_row(
        "interface[*].mtu",
        "",
        "interfaces",
        "equal",
        _T,
        Cost.OBSERVED,
        "another size than the network's loses large packets",
    ),
    facet_row(
        "interface[*].speed",
        "",
        "interfaces",
        "equal",
        _T,
        Cost.OBSERVED,
        "Mbit/s; a link at a lower speed slows every job",
    ),
    facet_row("interface[*].state", "", "interfaces", "equal", _T, Cost.OBSERVED, "whether a link is up"),
    facet_row(
        "limit[*].value",
        "tuning.limits",
        "limits",
        "equal",
        _M,
        Cost.NOTHING,
        "RDMA and data loaders fail at limits that are too low",
    ),
    facet_row("mount[*].bytes", "", "mounts", "equal", _T, Cost.OBSERVED, "size of a file system"),
    facet_row("mount[*].free", "", "mounts", "equal", _T, Cost.OBSERVED, "bytes that are left to ordinary users"),
    facet_row(
        "mount[*].fstab",
        "",
        "mounts",
        "equal",
        _T,
        Cost.OBSERVED,
        "a mount that is not in fstab may be gone after a reboot",
    ),
    facet_row("mount[*].options", "", "mounts", "set", _T, Cost.OBSERVED, "how a file system may be used"),
    facet_row("mount[*].source", "", "mounts", "equal", _T, Cost.OBSERVED, "what is mounted"),
    facet_row(
        "mount[*].type", "", "mounts", "equal", _T, Cost.OBSERVED, "file systems differ in speed and in what they can"
    ),
    facet_row("sysctl[*].configured", "tuning.sysctl", "sysctl", "equal", _I, Cost.NOTHING, "what the next boot sets"),
    facet_row(
        "sysctl[*].value",
        "tuning.sysctl",
        "sysctl",
        "equal",
        _M,
        Cost.NOTHING,
        "settings of the kernel that change speed and behaviour",
    ),
    facet_row(
        "user[*].groups", "", "accounts", "set", _I, Cost.OBSERVED, "groups give access to GPUs, containers and data"
    ),
    facet_row("user[*].shell", "", "accounts", "equal", _I, Cost.OBSERVED, "an account without a shell cannot log in"),
    facet_row(
        "user[*].state",
        "access.groups",
        "accounts",
        "equal",
        _I,
        Cost.NOTHING,
        "nobody logs in to an account that has expired",
    ),
    facet_row(
        "user[*].uid",
        "access.groups",
        "accounts",
        "equal",
        _I,
        Cost.NOTHING,
        "files on shared storage belong to numbers, not names",
    ),
    facet_row("apt.busy", "", "busy", "equal", _T, Cost.OBSERVED, "who uses the package system now"),
    facet_row("host.initramfs_bytes", "", "room", "equal", _T, Cost.OBSERVED, "what a new initramfs needs in /boot"),
    facet_row("host.kernel.headers", "", "headers", "set", _I, Cost.OBSERVED, "kernels that modules can be built for"),
    facet_row("host.memory_free", "", "room", "equal", _T, Cost.OBSERVED, "MiB that a build of modules can have"),
    facet_row("host.space", "", "room", "equal", _T, Cost.OBSERVED, "bytes that are left where packages are written"),
)
