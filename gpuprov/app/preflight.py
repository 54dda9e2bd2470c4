"""Preflight: what each host's snapshot and plan give the rules to judge before anything is touched."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from gpuprov.app.host_rules import host_facts
from gpuprov.app.reload import cuts_off_containers
from gpuprov.app.terms import Terms
from gpuprov.model.address import member_address
from gpuprov.model.change import Action, HostPlan
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.model.version import upstream
from gpuprov.plan.packages import MOVES
from gpuprov.plan.runfile import runfile_of, uninstaller_of, with_uninstall
from gpuprov.probe.request import STACK_SERVICES
from gpuprov.rules.answer import Answer, Verdict, told
from gpuprov.rules.host import check_host
from gpuprov.rules.preflight import Clash, PreflightFacts, check_preflight
from gpuprov.want.files import PINS_PATH
from gpuprov.want.owned import owned_of
from gpuprov.want.types import HostWant, Owned, PoolWant

_FIELD: Final = re.compile(r"^(URIs|Suites|Signed-By): *(.+)$", re.MULTILINE)
_ENGINES: Final = frozenset({"docker", "containerd"})
_DPKG: Final = ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock")
_UPGRADES: Final = "/run/unattended-upgrades.lock"
_SECURE_BOOT: Final = "GP-RULE-018"
_ORDINARY: Final = "500"
"""A pin at apt's ordinary priority keeps nothing back and pulls nothing in (apt_preferences(5))."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preflight:
    """What the preflight says of all hosts."""

    plans: tuple[HostPlan, ...]
    """The plans, each with whom it disturbs."""
    refused: Mapping[str, NotObserved] = field(default_factory=dict)
    """Hosts that are left out, each with all reasons."""
    told: tuple[Diagnostic, ...] = ()
    """What is to be told of the others."""


def preflight(
    plans: Sequence[HostPlan], wants: Mapping[str, HostWant], snapshots: Mapping[str, Snapshot], terms: Terms
) -> Preflight:
    """Judge every host that a plan would change; where it was agreed to, a driver from a .run file goes by the plan."""
    plans = tuple(_with_uninstall(wants[p.host], p, snapshots[p.host], terms) for p in plans)
    with_users = tuple(replace(p, disturbs=disturbed(wants[p.host], p, snapshots[p.host])) for p in plans)
    judged = {p.host: judge_host(wants[p.host], p, snapshots[p.host], terms) for p in with_users}
    refused = {host: found for host, answers in judged.items() if (found := refusal(answers)) is not None}
    told_ = tuple(one for host, answers in judged.items() if host not in refused for one in warnings(answers))
    return Preflight(plans=with_users, refused=refused, told=told_)


def judge_host(
    want: HostWant, plan: HostPlan, snapshot: Snapshot, terms: Terms, *, comes: Sequence[str] | None = None
) -> tuple[Answer, ...]:
    """What the preflight says of a host that a plan would change; nothing for one that stays as it is.

    Args:
        want: the host's.
        plan: what would be done.
        snapshot: what was seen.
        terms: what was agreed to.
        comes: packages that come beside the plan's; None where nobody has asked apt yet.
    """
    if not plan.changes:
        return ()
    # What the rules over hosts warn of is told with or without a preflight.
    wrong = (answer for answer in check_host(host_facts(snapshot)) if answer.verdict is Verdict.REFUSED)
    return (*wrong, *check_preflight(preflight_facts(want, plan, snapshot, terms, comes=comes)))


def refusal(answers: Sequence[Answer]) -> NotObserved | None:
    """Why a host is refused: the first reason, and the others with their ways out below it, so that one look does."""
    found = [answer for answer in answers if answer.verdict is Verdict.REFUSED]
    if not found:
        return None
    first, *others = found
    more = [f"also {other.rule}: {other.summary}; {other.satisfies}" for other in others]
    return NotObserved(
        host=first.address,
        code=first.rule,
        reason=first.summary,
        detail="\n".join([first.consequence, *more]),
        hint=first.satisfies,
    )


def warnings(answers: Sequence[Answer]) -> tuple[Diagnostic, ...]:
    """What is to be told of a host that is not refused."""
    return tuple(told(answer) for answer in answers if answer.verdict is not Verdict.REFUSED)


def disturbed(want: HostWant, plan: HostPlan, snapshot: Snapshot) -> tuple[str, ...]:
    """Who has a GPU open and would be ended by a plan: by its reboot, or containers by a restart or a reload.

    Who uses a driver that is taken away by its own uninstaller, which unloads it, counts too.
    """
    seen = snapshot.observe("gpu.users")
    if not isinstance(seen, Known) or not isinstance(seen.value, list):
        return ()
    restarts = any(c.action is Action.RESTART and c.subject in _ENGINES for c in plan.changes)
    restarts = restarts or cuts_off_containers(plan, snapshot)
    ours = {*STACK_SERVICES, *(service.name for service in want.pool.services)}
    found = []
    for row in seen.value:
        if not isinstance(row, dict) or (row["kind"] == "service" and row["name"] in ours):
            continue
        if plan.reboot or uninstaller_of(plan) or (restarts and row["kind"] == "container"):
            name = f"{row['kind']} {row['name']}" if row["name"] else str(row["kind"])
            found.append(f"{name} ({row['command']}, process {row['pid']} of {row['user']})")
    return tuple(found)


def in_use(want: HostWant, plan: HostPlan, seen: Snapshot, terms: Terms) -> tuple[Diagnostic, ...]:
    """Refuse a host whose GPUs are in use now, right before it is touched: work that nobody was shown, or not freed."""
    facts = PreflightFacts(host=want.host, disturbs=disturbed(want, plan, seen), disturb=terms.disturb)
    return _told(facts)


def stranded(want: HostWant, plan: HostPlan, seen: Snapshot) -> tuple[Diagnostic, ...]:
    """Refuse the reboot of a host whose next kernel has no driver module, or one that Secure Boot would not take.

    Where the module was to be built on the host, only now is it known whether it is there.
    """
    found = check_host(host_facts(seen))
    unsigned = [told(a) for a in found if a.verdict is Verdict.REFUSED and a.rule == _SECURE_BOOT]
    facts = PreflightFacts(
        host=want.host,
        reboots=True,
        wants_driver=want.pool.on_disk,
        next_kernel=_next_kernel(plan, seen) or str(seen.known("host.kernel.next") or ""),
        running=str(seen.known("host.kernel.release") or ""),
        next_boot=_next_boot(seen),
    )
    return (*unsigned, *_told(facts))


def _told(facts: PreflightFacts) -> tuple[Diagnostic, ...]:
    return tuple(told(answer) for answer in check_preflight(facts) if answer.verdict is Verdict.REFUSED)


def preflight_facts(
    want: HostWant, plan: HostPlan, snapshot: Snapshot, terms: Terms, *, comes: Sequence[str] | None
) -> PreflightFacts:
    """What the rules read of a host; what could not be seen refuses nothing."""
    moves = [change.subject for change in plan.changes if change.action in MOVES]
    broken = _broken(snapshot)
    # The repair of a half-configured package builds its modules too.
    builds = any("-dkms" in name for name in (*moves, *broken))
    users = snapshot.facts.get("gpu.users")
    busy = _busy(snapshot)
    offset = snapshot.known("host.clock.offset")
    asked = snapshot.known("host.reboot_required")
    stale = str(snapshot.known("host.initramfs") or "")
    return PreflightFacts(
        host=want.host,
        builds=builds,
        # Whether headers come as a dependency is known only once apt was asked.
        headers_come=comes is None or any(name.startswith("linux-headers-") for name in (*moves, *comes)),
        new_initramfs=builds or any(c.action is Action.WRITE and "/modprobe.d/" in c.subject for c in plan.changes),
        reboots=plan.reboot,
        moves_driver=builds or bool(_driver_packages(want) & set(moves)),
        wants_driver=want.pool.on_disk,
        disturbs=disturbed(want, plan, snapshot),
        users_unknown=users.observation.reason if users and isinstance(users.observation, Unknown) else "",
        drained=plan.pool in terms.drained,
        disturb=terms.disturb,
        holds=_holds(moves, snapshot),
        installer=runfile_of(snapshot),
        uninstalls=bool(uninstaller_of(plan)),
        clashes=tuple(_clashes(want.pool, snapshot)),
        pins=_pins(want.pool, snapshot),
        space=_numbers(snapshot.known("host.space")),
        initramfs=_number(snapshot, "host.initramfs_bytes") or 0,
        memory=_number(snapshot, "host.memory_free"),
        running=str(snapshot.known("host.kernel.release") or ""),
        next_kernel=_next_kernel(plan, snapshot),
        headers=_headers(snapshot),
        next_boot=_next_boot(snapshot),
        clock_offset=offset if isinstance(offset, int) and snapshot.known("host.clock.correct") is False else None,
        reboot_asked=tuple(str(name) for name in asked) if isinstance(asked, list) else None,
        busy=tuple(text for file, text in busy if file in _DPKG),
        upgrading=any(file == _UPGRADES for file, _ in busy),
        broken=broken,
        nouveau=snapshot.known("host.nouveau") is True,
        stale_initramfs=stale if stale.startswith("older") else "",
    )


def _driver_packages(want: HostWant) -> set[str]:
    return {p.name for p in want.pool.packages if upstream(p.version) == want.pool.on_disk}


def _with_uninstall(want: HostWant, plan: HostPlan, snapshot: Snapshot, terms: Terms) -> HostPlan:
    """The plan in which a driver from a .run file goes: where that was agreed to, can be done, and packages come."""
    comes = {change.subject for change in plan.changes if change.action is Action.INSTALL}
    can = "files" in runfile_of(snapshot) and bool(_driver_packages(want) & comes)
    return with_uninstall(plan, snapshot) if terms.take_over and can else plan


def is_busy(snapshot: Snapshot) -> bool:
    """Whether somebody holds dpkg's lock: what apt says now may be untrue a moment later."""
    return any(file in _DPKG for file, _ in _busy(snapshot))


def is_broken(snapshot: Snapshot) -> bool:
    """Whether dpkg was left half done: apt can simulate nothing then."""
    return bool(_broken(snapshot))


def _holds(moves: Sequence[str], snapshot: Snapshot) -> dict[str, str]:
    """Held packages that move and that gpuprov does not hold; none where its own record cannot be read."""
    owned = owned_of(snapshot)
    if not isinstance(owned, Owned):
        return {}
    return {
        name: str(snapshot.known(member_address("package", name, "version")) or "")
        for name in moves
        if name not in owned.packages and snapshot.known(member_address("package", name, "held")) is True
    }


def _clashes(pool: PoolWant, snapshot: Snapshot) -> Iterator[Clash]:
    """Repositories of the want that a file of the host's own names with another key."""
    rows = snapshot.known("apt.sources")
    # Where ours is there already, the clash is there too, and the rules over hosts tell of it.
    there = {str(row["file"]) for row in rows if isinstance(row, dict)} if isinstance(rows, list) else set()
    ours: dict[str, str] = {}
    for source in (source for source in pool.sources if source.path not in there):
        fields = dict(_FIELD.findall(source.text))
        for uri in fields.get("URIs", "").split():
            for suite in fields.get("Suites", "").split():
                ours[_place(uri, suite)] = fields.get("Signed-By", "")
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or "/gpuprov-" in str(row["file"]):
            continue
        for uri in _list(row["uris"]):
            for suite in _list(row["suites"]):
                key = ours.get(_place(uri, suite))
                if key is not None and key != row["signed_by"]:
                    yield Clash(place=_place(uri, suite), file=str(row["file"]), theirs=str(row["signed_by"]), ours=key)


def _place(uri: str, suite: str) -> str:
    return f"{uri.rstrip('/')} {suite.rstrip('/') or '/'}"


def _pins(pool: PoolWant, snapshot: Snapshot) -> dict[str, tuple[str, ...]]:
    """Preferences of somebody else that name packages of the want by name, other than at apt's ordinary priority."""
    rows = snapshot.known("apt.pins")
    names = [package.name for package in pool.packages]
    found: dict[str, dict[str, None]] = {}
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or row["file"] == PINS_PATH or row["priority"] == _ORDINARY:
            continue
        patterns = [word for word in str(row["package"]).split() if word != "*"]
        hit = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
        if hit:
            found.setdefault(str(row["file"]), {}).update(dict.fromkeys(hit))
    return {file: tuple(hit) for file, hit in found.items()}


def _next_kernel(plan: HostPlan, snapshot: Snapshot) -> str:
    """The kernel that the next boot takes; empty where that changes with the plan, or nobody knows."""
    chosen = next((change.after for change in plan.changes if change.action is Action.BOOT), "")
    if chosen:
        return chosen
    if any(c.action in MOVES and c.subject.startswith("linux-image-") for c in plan.changes):
        return ""
    return str(snapshot.known("host.kernel.next") or "")


def _headers(snapshot: Snapshot) -> tuple[str, ...] | None:
    match snapshot.observe("host.kernel.headers"):
        case Known(list() as names):
            return tuple(str(name) for name in names)
        case Absent():
            return ()
        case _:
            return None


def _next_boot(snapshot: Snapshot) -> str | None:
    match snapshot.observe("stack.driver.next_boot"):
        case Known(version):
            return str(version)
        case Absent():
            return ""
        case _:
            return None


def _busy(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Who holds which lock."""
    rows = snapshot.known("apt.busy")
    return [
        (str(row["file"]), f"process {row['pid']} ({row['command']})")
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    ]


def _broken(snapshot: Snapshot) -> tuple[str, ...]:
    names = snapshot.known("apt.dpkg")
    return tuple(str(name) for name in names) if isinstance(names, list) else ()


def _number(snapshot: Snapshot, address: str) -> int | None:
    value = snapshot.known(address)
    return value if isinstance(value, int) else None


def _numbers(value: object) -> Mapping[str, int]:
    return {str(k): n for k, n in value.items() if isinstance(n, int)} if isinstance(value, dict) else {}


def _list(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
