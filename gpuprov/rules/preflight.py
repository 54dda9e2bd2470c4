"""What keeps a host from being changed as it is now: one verdict per host before anything is touched; pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuprov.rules.answer import Answer, Said, Verdict

_PROBE: Final = "the probe"
_MEMORY: Final = 1024
"""MiB: below that a build of kernel modules is at the mercy of the kernel's out-of-memory killer; a rule of thumb."""
_FLOOR: Final = 16 * 2**20
"""Bytes that dpkg and apt need in any folder that they write, beside the packages themselves; a rule of thumb."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clash:
    """A repository of the lock that a file of the host names with another key: apt would read no list at all."""

    place: str
    file: str
    theirs: str
    ours: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PreflightFacts:
    """What was seen of a host and what its plan would do there; empty or None where it was not seen."""

    host: str
    # What the plan would do.
    builds: bool = False
    """Whether kernel modules are built on the host (DKMS)."""
    headers_come: bool = False
    """Whether headers are among the packages that come."""
    new_initramfs: bool = False
    """Whether an initramfs is made anew."""
    reboots: bool = False
    moves_driver: bool = False
    wants_driver: str = ""
    """Version of the driver that must be in use; empty where none must."""
    disturbs: tuple[str, ...] = ()
    """Who has a GPU open and would be ended by the plan."""
    users_unknown: str = ""
    """Why nobody knows who has the GPUs open; empty where it is known."""
    # What was agreed to.
    drained: bool = False
    """Whether work is taken off the host first."""
    disturb: bool = False
    """Whether the user takes it upon himself."""
    # What was seen.
    holds: Mapping[str, str] = field(default_factory=dict)
    """Packages that the plan moves and somebody else holds -> their version."""
    installer: Mapping[str, str] = field(default_factory=dict)
    """`program` and `version` of a driver that NVIDIA's own installer put there; `files` where that can undo it."""
    uninstalls: bool = False
    """Whether the plan has that uninstaller take it away, before packages come."""
    clashes: tuple[Clash, ...] = ()
    pins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of apt preferences that are not ours -> names of packages of the lock in them."""
    space: Mapping[str, int] = field(default_factory=dict)
    """Folder -> free bytes."""
    initramfs: int = 0
    """Bytes of the largest one in /boot; 0 where there is none."""
    memory: int | None = None
    """Free memory in MiB."""
    running: str = ""
    """The kernel that runs."""
    next_kernel: str = ""
    """The kernel that the next boot takes, where the host boots one of its own and it is known."""
    headers: tuple[str, ...] | None = None
    """Kernels that modules can be built for."""
    next_boot: str | None = None
    """Version of the module that the next boot's kernel has; empty when it has none, None when nobody knows."""
    clock_offset: int | None = None
    """Seconds that the host's clock is ahead, where it is wrong."""
    reboot_asked: tuple[str, ...] | None = None
    """Packages that asked for a reboot earlier; None where nothing did."""
    busy: tuple[str, ...] = ()
    """Who holds dpkg's locks, in words."""
    upgrading: bool = False
    """Whether unattended-upgrade is at work now."""
    broken: tuple[str, ...] = ()
    """Packages that an interrupted dpkg left half done."""
    nouveau: bool = False
    stale_initramfs: str = ""
    """How the initramfs is older than what keeps nouveau away; empty where it is not."""


def check_preflight(facts: PreflightFacts) -> Iterator[Answer]:
    """Say what refuses a host and what is to be told, refusals first; addresses are the host's name."""
    found = [answer for rule in _RULES for answer in rule(facts)]
    yield from sorted(found, key=lambda answer: answer.verdict is not Verdict.REFUSED)


def _refused(facts: PreflightFacts, rule: str, summary: str, seen: str, consequence: str, satisfies: str) -> Answer:
    return Answer(
        rule=rule,
        verdict=Verdict.REFUSED,
        address=facts.host,
        summary=summary,
        facts=(Said(what=seen, source=_PROBE),),
        consequence=consequence,
        satisfies=satisfies,
    )


def _told(facts: PreflightFacts, rule: str, summary: str, seen: str, consequence: str, satisfies: str) -> Answer:
    return Answer(
        rule=rule,
        verdict=Verdict.WARNING,
        address=facts.host,
        summary=summary,
        facts=(Said(what=seen, source=_PROBE),),
        consequence=consequence,
        satisfies=satisfies,
    )


def _holds(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.holds:
        names = " ".join(sorted(facts.holds))
        yield _refused(
            facts,
            "GP-PRE-001",
            f"somebody holds {some([f'{name} {version}' for name, version in sorted(facts.holds.items())])}",
            "apt-mark showhold",
            "A hold says that the package must not move, and the plan would move it.",
            f"ask who set the hold; then `apt-mark unhold {names}` on the host",
        )


def _installer(facts: PreflightFacts) -> Iterator[Answer]:
    if not facts.installer or not facts.wants_driver:
        return
    program, version = facts.installer["program"], facts.installer.get("version", "")
    summary = f"the driver{f' {version}' if version else ''} came by NVIDIA's own installer (a .run file)"
    seen = f"{program} is there, and no package owns it"
    if facts.uninstalls:
        consequence = "Its uninstaller takes it away before packages come. There is no way back to it."
        yield _told(facts, "GP-PRE-002", summary, seen, consequence, "")
        return
    ways = f"take the work off the GPUs, run `{program}` on the host, then run `gpuprov up` again"
    if "files" in facts.installer:
        ways += "; or `up --take-over --no-rollback` runs it (`preview --take-over` shows what goes and comes)"
    consequence = "Packages would overwrite a part of its files, and the two would be mixed."
    yield _refused(facts, "GP-PRE-002", summary, seen, consequence, ways)


def _clashes(facts: PreflightFacts) -> Iterator[Answer]:
    for clash in facts.clashes:
        yield _refused(
            facts,
            "GP-PRE-008",
            f"{clash.file} names the repository {clash.place} with another key than the lock's source",
            f"{clash.file}: {clash.theirs or 'no key of its own'}; the lock: {clash.ours}",
            "apt reads no list at all while one repository has two keys.",
            f"remove {clash.file} on the host: gpuprov writes the source of the lock itself",
        )


def _room(facts: PreflightFacts) -> Iterator[Answer]:
    boot = facts.space.get("/boot")
    if facts.new_initramfs and boot is not None and facts.initramfs > boot:
        yield _refused(
            facts,
            "GP-PRE-004",
            f"/boot has {megabytes(boot)} left, and a new initramfs takes {megabytes(facts.initramfs)}",
            f"free in /boot: {boot} bytes",
            "The driver's packages make the initramfs anew beside the old one; dpkg would be left half done.",
            "remove kernels that are not needed any more (`apt-get autoremove --purge`), then run again",
        )
    for folder, free in facts.space.items():
        if folder != "/boot" and free < _FLOOR:
            yield _refused(
                facts,
                "GP-PRE-004",
                f"{folder} has {megabytes(free)} left",
                f"free in {folder}: {free} bytes",
                "dpkg and apt write there, and would stop half-way.",
                f"make space: {folder} needs at least {megabytes(_FLOOR)}; then run again",
            )
            return  # other folders are most often on the same file system


def _headers(facts: PreflightFacts) -> Iterator[Answer]:
    kernel = facts.next_kernel
    if not facts.builds or not kernel or facts.headers is None or facts.headers_come or kernel in facts.headers:
        return
    yield _refused(
        facts,
        "GP-PRE-005",
        f"there are no headers for the kernel {kernel}, which the next boot takes",
        f"kernels with headers: {', '.join(facts.headers) or 'none'}",
        "DKMS could not build the driver's module for it, and the GPUs would be gone after the reboot.",
        f"add `linux-headers-{kernel}` to stack.packages and lock, or install it on the host",
    )


def _next_boot(facts: PreflightFacts) -> Iterator[Answer]:
    if not facts.wants_driver or facts.moves_driver or facts.next_boot is None or not facts.next_kernel:
        return
    if facts.next_boot:
        return
    kernel = facts.next_kernel
    answer = _refused if facts.reboots else _told
    yield answer(
        facts,
        "GP-PRE-006",
        f"the kernel {kernel}, which the next boot takes, has no driver module",
        f"no nvidia module below /lib/modules/{kernel}; the kernel {facts.running} runs now",
        "The GPUs work until the next boot, and are gone after it.",
        f"see `dkms status` on the host; install linux-headers-{kernel} and build it (`dkms autoinstall -k {kernel}`),"
        " or boot the old kernel by default",
    )


def _other_kernel(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.reboots and facts.next_kernel and facts.running and facts.next_kernel != facts.running:
        yield _told(
            facts,
            "GP-PRE-016",
            f"the reboot takes the kernel {facts.next_kernel}; {facts.running} runs now",
            f"the boot loader's default is {facts.next_kernel}",
            "Everything that depends on the kernel changes with it.",
            "choose the kernel in the boot loader, or with `stack.kernel`, if that is not wanted",
        )


def _busy_gpus(facts: PreflightFacts) -> Iterator[Answer]:
    ways = "wait for them or end them, or let `rollout.drain` take work off the host first"
    if facts.users_unknown and facts.reboots:
        yield _told(
            facts,
            "GP-PRE-007",
            f"nobody knows who uses the GPUs: {facts.users_unknown}",
            "open files in /proc",
            "The plan reboots the host: what uses them ends.",
            "look on the host (`fuser -v /dev/nvidia*`)",
        )
    if not facts.disturbs:
        return
    agreed = facts.drained or facts.disturb
    answer = _told if agreed else _refused
    yield answer(
        facts,
        "GP-PRE-007",
        f"the GPUs are in use: {some(facts.disturbs)}",
        "open files in /proc",
        "The plan reboots the host, restarts the container engine or has systemd reload: they would end, or lose GPUs."
        if not facts.drained
        else "Work is taken off the host first, as rollout.drain says.",
        "" if agreed else f"{ways}; --disturb goes on and ends them",
    )


def _busy_apt(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.busy:
        who = "unattended-upgrade is at work" if facts.upgrading else "another program uses the package system"
        yield _told(
            facts,
            "GP-PRE-009",
            f"{who}: {some(facts.busy)}",
            "locks in /proc/locks",
            "`up` waits for it, for a limited time, and never ends it.",
            "wait until it has ended, if it should not be waited for",
        )


def _broken(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.broken:
        yield _told(
            facts,
            "GP-PRE-010",
            f"dpkg left half done: {some(facts.broken)}",
            "dpkg --audit",
            "`up` first finishes that, as `dpkg --configure -a` does; what follows can be simulated only then.",
            "see `dpkg --audit` on the host for the cause",
        )


def _clock(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.clock_offset is not None:
        side = "ahead of" if facts.clock_offset > 0 else "behind"
        yield _told(
            facts,
            "GP-PRE-011",
            f"the host's clock is {abs(facts.clock_offset)} s {side} this machine's",
            "date",
            "apt refuses lists that are expired, or of the future, by the host's clock.",
            "set the clock, and let something keep it (chrony, systemd-timesyncd)",
        )


def _reboot_asked(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.reboot_asked is not None:
        yield _told(
            facts,
            "GP-PRE-012",
            "a reboot is pending already" + (f": {some(facts.reboot_asked)}" if facts.reboot_asked else ""),
            "/run/reboot-required",
            "The plan reboots, and ends that too." if facts.reboots else "The plan does not reboot the host.",
            "" if facts.reboots else "reboot the host when its work allows",
        )


def _pins(facts: PreflightFacts) -> Iterator[Answer]:
    for file, names in facts.pins.items():
        yield _told(
            facts,
            "GP-PRE-013",
            f"{file} has preferences for {some(names)}",
            file,
            "The lock's versions are installed all the same, and held; two files then say what apt should prefer.",
            f"take these packages out of {file}",
        )


def _memory(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.builds and facts.memory is not None and facts.memory < _MEMORY:
        yield _told(
            facts,
            "GP-PRE-014",
            f"{facts.memory} MiB of memory are free, and kernel modules will be built",
            "MemAvailable in /proc/meminfo",
            "The compiler may be ended for lack of memory; the package system would be left half done.",
            "free some memory on the host first",
        )


def _nouveau(facts: PreflightFacts) -> Iterator[Answer]:
    if facts.nouveau and facts.stale_initramfs and not facts.new_initramfs:
        yield _told(
            facts,
            "GP-PRE-015",
            f"nouveau holds the GPUs, and the initramfs is {facts.stale_initramfs}",
            "/boot",
            "The next boot may load nouveau again, although a file keeps it away.",
            "make it anew: `update-initramfs -u` on the host",
        )


_RULES: Final[tuple[Callable[[PreflightFacts], Iterator[Answer]], ...]] = (
    _holds,
    _installer,
    _clashes,
    _room,
    _headers,
    _next_boot,
    _busy_gpus,
    _busy_apt,
    _broken,
    _other_kernel,
    _clock,
    _reboot_asked,
    _pins,
    _memory,
    _nouveau,
)
_SHOWN: Final = 5


def some(names: tuple[str, ...] | list[str]) -> str:
    """The first few of some names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def megabytes(size: int) -> str:
    """Write a size for people."""
    return f"{size / 10**6:.1f} MB"
