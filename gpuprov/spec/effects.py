"""What each field of a spec becomes on a host, and what changing it costs; `explain` and the reference print it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.model.facet import Cost


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """One row: a field, or all fields below an address."""

    address: str
    facets: tuple[str, ...]
    """Patterns of the facets that it becomes, in the table of model/facets.py; empty: it becomes nothing on a host."""
    cost: Cost
    """The most that a change can cost a host that runs; OBSERVED: gpuprov finds a difference and cannot change it."""
    change: str
    """What a change does, in one sentence."""


_PACKAGE: Final = (
    "package[*].version",
    "package[*].state",
    "package[*].held",
    "apt.dpkg",
    "apt.unattended_blacklist",
)
_FILE: Final = ("file[*].sha256", "file[*].mode", "file[*].owner", "file[*].group")
_SERVICE: Final = ("service[*].active", "service[*].enabled")
_DRIVER: Final = ("stack.driver.on_disk", "stack.driver.loaded", "stack.driver.nvml")
_RELOCK: Final = "The lock is stale until `gpuprov lock` ran;"
_RIGHTS: Final = (
    "The policies of the hosts' roles change in place, and so do the lists of access control of mounted disks; what is "
    "on a disk already keeps its own."
)
_REMOUNT: Final = (
    "Hosts unmount the old share and mount the new one; where a program uses it, that host's change fails."
)
_AS_STACK: Final = "As the same field of the spec's `stack`, on the hosts that it is for."


def _row(address: str, cost: Cost, change: str, *facets: str) -> Effect:
    return Effect(address=address, facets=facets, cost=cost, change=change)


EFFECTS: Final[tuple[Effect, ...]] = (
    _row("apiVersion", Cost.NOTHING, "It is the form of the spec; hosts do not see it."),
    _row(
        "name",
        Cost.NOTHING,
        "Hosts in a rack do not see it; with hosts in the cloud `up` refuses a new name, for their stack goes by it.",
    ),
    _row(
        "os",
        Cost.REPLACEMENT,
        f"{_RELOCK} a host with another OS is refused: install it, or make the instance anew.",
        "host.os",
        "host.arch",
    ),
    _row(
        "sources",
        Cost.NOTHING,
        f"{_RELOCK} hosts get the source's entry and key where a locked package comes from it.",
        *_FILE,
        *_PACKAGE,
    ),
    _row(
        "stack.driver",
        Cost.REBOOT,
        f"{_RELOCK} hosts with GPUs get the driver's packages and reboot into it, batch by batch.",
        *_DRIVER,
        "stack.driver.modules",
        *_PACKAGE,
        *_SERVICE,
        *_FILE,
    ),
    _row(
        "stack.driver.modules",
        Cost.REBOOT,
        f"{_RELOCK} hosts with GPUs get the packages of the other flavour and reboot into it.",
        "stack.driver.modules",
        *_PACKAGE,
    ),
    _row("stack.cuda", Cost.NOTHING, f"{_RELOCK} the toolkit's packages change.", *_PACKAGE),
    _row(
        "stack.container",
        Cost.RESTART,
        f"{_RELOCK} the engine restarts when its packages or its settings change.",
        "stack.container.runtimes",
        "stack.containerd.cri",
        "stack.containerd.runtimes",
        "stack.cdi.state",
        "file[*].text",
        *_PACKAGE,
        *_SERVICE,
    ),
    _row(
        "stack.fabric",
        Cost.REBOOT,
        f"{_RELOCK} Fabric Manager is one set with the driver, and comes or goes with it.",
        *_PACKAGE,
        *_SERVICE,
    ),
    _row("stack.dcgm", Cost.RESTART, f"{_RELOCK} DCGM and its exporter restart.", *_PACKAGE, *_SERVICE),
    _row(
        "stack.packages",
        Cost.RESTART,
        f"{_RELOCK} the packages come, move or are released; a unit that gpuprov knows restarts with its package.",
        *_PACKAGE,
        *_SERVICE,
    ),
    _row(
        "stack.frameworks",
        Cost.NOTHING,
        f"{_RELOCK} another environment is made beside the one in use, and a link then leads to it.",
        "stack.frameworks.environment",
        "framework[*].version",
    ),
    _row(
        "stack.kernel",
        Cost.REBOOT,
        f"{_RELOCK} hosts get the kernel and its headers, boot it by default, and reboot into it, batch by batch.",
        "host.kernel.release",
        "host.kernel.next",
        *_PACKAGE,
        *_FILE,
    ),
    _row("lock", Cost.NOTHING, "The lock is stale until `gpuprov lock` ran."),
    _row(
        "lock.pin",
        Cost.RESTART,
        f"{_RELOCK} with `closure`, what the stack needs of the OS is brought to its version and held too; "
        "with `owned` it is released and stays.",
        *_PACKAGE,
    ),
    _row(
        "pools.*.gpu",
        Cost.OBSERVED,
        "gpuprov finds other GPUs, and cannot make them; the model also decides about modules and Fabric Manager.",
        "gpu.count",
        "gpu.models",
        *_PACKAGE,
        *_SERVICE,
    ),
    _row("pools.*.gpu.model", Cost.OBSERVED, "gpuprov finds other GPUs, and cannot make them.", "gpu.models"),
    _row("pools.*.gpu.per_host", Cost.OBSERVED, "gpuprov finds missing GPUs, and cannot make them.", "gpu.count"),
    _row(
        "pools.*.os",
        Cost.REPLACEMENT,
        f"{_RELOCK} a host with another OS is refused: install it, or make the instance anew.",
        "host.os",
        "host.arch",
    ),
    _row("pools.*.onprem", Cost.NOTHING, "Other hosts belong to the pool; those that left it are not touched."),
    _row("pools.*.rollout", Cost.NOTHING, "The next run takes other steps."),
    _row("pools.*.stack", Cost.REBOOT, _AS_STACK),
    _row("targets.onprem.stack", Cost.REBOOT, _AS_STACK),
    _row("targets.cloud.stack", Cost.REBOOT, _AS_STACK),
    _row("pools.*.verify", Cost.NOTHING, "The commands run after the next change of a host."),
    _row(
        "pools.*.cloud",
        Cost.REPLACEMENT,
        "Instances are made for new hosts; one that would go is refused unless `--replace` names it.",
    ),
    _row(
        "pools.*.cloud.instance",
        Cost.REPLACEMENT,
        "Another type is another instance: refused unless `--replace` names the host.",
    ),
    _row("pools.*.cloud.market", Cost.NOTHING, "New hosts are bought so; those that stand stay as they were bought."),
    _row("pools.*.cloud.min_hosts", Cost.NOTHING, "It counts when hosts are made and AWS does not give them all."),
    _row(
        "pools.*.cloud.role", Cost.NOTHING, "The pool's hosts act as the other role within seconds; none is made anew."
    ),
    _row(
        "pools.*.cloud.existing",
        Cost.NOTHING,
        "Other instances belong to the pool; those that left it are not touched.",
    ),
    _row(
        "pools.*.cloud.placement",
        Cost.NOTHING,
        "New instances are put into the group; those that stand stay as they are.",
    ),
    _row(
        "pools.*.cloud.efa",
        Cost.NOTHING,
        "New instances get the interfaces; those that stand keep theirs until `--replace` names them.",
    ),
    _row("pools.*.cloud.metadata_hops", Cost.NOTHING, "The instances' metadata options change in place."),
    _row(
        "pools.*.cloud.root", Cost.NOTHING, "The volume grows in place; a smaller one comes only with a new instance."
    ),
    _row(
        "files",
        Cost.NOTHING,
        "The file is written as it stands here; one that is taken out of the spec goes from the hosts.",
        *_FILE,
    ),
    _row(
        "monitoring.exporters",
        Cost.RESTART,
        f"{_RELOCK} the exporters' packages and units come, restart or go.",
        "exporter[*].answers",
        *_PACKAGE,
        *_SERVICE,
    ),
    _row("verify", Cost.NOTHING, "The commands run after the next change of a host."),
    _row("targets.onprem", Cost.NOTHING, "Other hosts belong to the pools; those that left them are not touched."),
    _row(
        "targets.cloud",
        Cost.REPLACEMENT,
        "What stands changes in place where AWS can; what would be made anew is refused unless `--replace` names it.",
    ),
    _row(
        "targets.cloud.network.cidr", Cost.REPLACEMENT, "Another network is another place for all instances: refused."
    ),
    _row("targets.cloud.network.ranges", Cost.NOTHING, "Rules of the security group change in place."),
    _row("targets.cloud.network.ssh_from", Cost.NOTHING, "Rules of the security group change in place."),
    _row("targets.cloud.network.open", Cost.NOTHING, "Rules of the security group change in place."),
    _row(
        "targets.cloud.network.existing",
        Cost.REPLACEMENT,
        "Other subnets are another place for the instances in them: refused unless `--replace` names each.",
    ),
    _row(
        "targets.cloud.network.public",
        Cost.REPLACEMENT,
        "Public addresses come with an instance: refused unless `--replace` names each host; the ways out change.",
    ),
    _row(
        "targets.cloud.network.egress",
        Cost.NOTHING,
        "Gateways and route tables come or go; connections of hosts to the internet end.",
    ),
    _row("targets.cloud.network.endpoints", Cost.NOTHING, "Endpoints come or go in place."),
    _row(
        "targets.cloud.network.world",
        Cost.NOTHING,
        "It lets a range of the whole world be opened; rules change in place.",
    ),
    _row("targets.cloud.jump", Cost.NOTHING, "Hosts do not see it: connections take another way."),
    _row("targets.cloud.network.zones", Cost.NOTHING, "It decides about new instances; those that stand stay."),
    _row("targets.cloud.ttl", Cost.NOTHING, "`destroy --expired` removes the hosts earlier, or later."),
    _row("targets.cloud.profile", Cost.NOTHING, "Another identity makes the changes."),
    _row("targets.cloud.assume_role", Cost.NOTHING, "Another identity makes the changes."),
    _row(
        "targets.cloud.state",
        Cost.NOTHING,
        "Resources do not see it; while a stack stands elsewhere or under another key, `up` refuses the change.",
    ),
    _row(
        "targets.cloud.permissions_boundary",
        Cost.NOTHING,
        "Roles that gpuprov made are bounded by it at once, or no longer.",
    ),
    _row("targets.cloud.login_keys", Cost.NOTHING, "New instances get the keys; those that stand keep what they have."),
    _row("targets.cloud.user", Cost.NOTHING, "New instances get the user; those that stand keep what they have."),
    _row(
        "targets.cloud.image", Cost.NOTHING, "New instances start from it; those that stand are reported as outdated."
    ),
    _row("parity", Cost.NOTHING, "Hosts do not see it: a finding counts, or no longer counts."),
    _row(
        "storage",
        Cost.REPLACEMENT,
        "Buckets and volumes are made; what holds data goes only when it is named, and a volume only with its host.",
    ),
    _row(
        "storage.*.device",
        Cost.NOTHING,
        "Hosts get the disk: an empty one is formatted; one that holds something else is left alone, and told.",
        "device[*].content",
        "device[*].mounts",
    ),
    _row("storage.*.filesystem", Cost.NOTHING, "A disk that holds another file system is left alone, and told."),
    _row("storage.*.server", Cost.RESTART, _REMOUNT, "share[*].source", *_FILE),
    _row("storage.*.export", Cost.RESTART, _REMOUNT, "share[*].source", *_FILE),
    _row("storage.*.options", Cost.NOTHING, "They hold from the next mount on, at the latest after a reboot.", *_FILE),
    _row(
        "storage.*.service",
        Cost.REPLACEMENT,
        "A file system of another service is another one, without the data of the first, which stays.",
    ),
    _row(
        "storage.*.mount",
        Cost.RESTART,
        "The disk or the share is mounted there; taken out of the spec it is unmounted, and its data stays.",
        "device[*].mounts",
        "share[*].source",
        "share[*].type",
        *_FILE,
    ),
    _row("storage.*.pools", Cost.RESTART, "Other hosts mount it, or unmount it; its data stays."),
    _row("storage.*.size", Cost.NOTHING, "The volumes grow in place; a smaller one is a new one, without the data."),
    _row("storage.*.prefixes", Cost.NOTHING, "The hosts' policy changes in place."),
    _row("storage.*.write", Cost.NOTHING, "The hosts' policy changes in place."),
    _row(
        "access",
        Cost.NOTHING,
        "Users and groups are made; who is taken out is locked, and loses keys and rules of sudo, and no data.",
        "user[*].state",
        "user[*].uid",
        "group[*].members",
        "group[*].gid",
        "host.ssh.keys",
        *_FILE,
    ),
    _row(
        "access.groups.*.members",
        Cost.NOTHING,
        "Who comes is made and joins; who goes leaves, and is locked where gpuprov made the account; homes stay.",
        "user[*].state",
        "user[*].uid",
        "group[*].members",
        "host.ssh.keys",
        *_FILE,
    ),
    _row("access.groups.*.members[*].uid", Cost.OBSERVED, "It counts when the user is made.", "user[*].uid"),
    _row("access.groups.*.read", Cost.NOTHING, _RIGHTS, "rights[*].entries"),
    _row("access.groups.*.write", Cost.NOTHING, _RIGHTS, "rights[*].entries"),
    _row("access.groups.*.gid", Cost.OBSERVED, "It counts when the group is made.", "group[*].gid"),
    _row("access.groups.*.sudo", Cost.NOTHING, "The rule is checked by visudo and replaced, or goes.", *_FILE),
    _row("tuning", Cost.NOTHING, "Settings come into force at once; what was there before comes back.", *_FILE),
    _row(
        "tuning.sysctl",
        Cost.NOTHING,
        "The kernel gets the setting at once and at every boot; what was there before comes back.",
        "sysctl[*].value",
        "sysctl[*].configured",
        *_FILE,
    ),
    _row(
        "tuning.hugepages",
        Cost.NOTHING,
        "The kernel sets the pages aside at once, as far as it finds them, and at every boot.",
        "sysctl[*].value",
        "sysctl[*].configured",
        *_FILE,
    ),
    _row("tuning.limits", Cost.NOTHING, "They hold from each user's next login on.", "limit[*].value", *_FILE),
    _row(
        "tuning.governor",
        Cost.NOTHING,
        "A unit sets it, now and at every boot; the one of the boot comes back with the next one.",
        "host.cpu.governor",
        *_SERVICE,
        *_FILE,
    ),
    _row(
        "tuning.power_limit",
        Cost.NOTHING,
        "A unit sets it, now and at every boot; without it the GPUs have their own limit again.",
        "gpu.power_limit",
        *_SERVICE,
        *_FILE,
    ),
    _row(
        "tuning.clocks",
        Cost.NOTHING,
        "A unit locks them, now and at every boot; without it the GPUs choose their clocks again.",
        *_SERVICE,
        *_FILE,
    ),
    _row("accept", Cost.NOTHING, "Hosts do not see it: `validate` and `lock` go on, or refuse."),
    _row("catalog", Cost.NOTHING, f"{_RELOCK} only when a row counts that the lock used."),
)


def effect_of(pattern: str) -> Effect | None:
    """The row of a field, or the nearest above it; None for what is only a heading, or is not built yet."""
    near = [
        row for row in EFFECTS if pattern == row.address or pattern.startswith((f"{row.address}.", f"{row.address}["))
    ]
    return max(near, key=lambda row: len(row.address), default=None)


def fields_of_facet(pattern: str) -> Iterator[str]:
    """The fields that become a facet."""
    yield from (row.address for row in EFFECTS if pattern in row.facets)
