"""What apt and dpkg say, read into values: pure functions, tried on recorded outputs.

Owns: the text forms of dpkg-query and apt-get --print-uris; the verdict over a transaction that apt announces.
Takes: text that was printed under LC_ALL=C.UTF-8, and the plan.
Gives: values, and the reasons why a transaction must not run.
Must not: run a program or open a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

QUERY_FORMAT = "${Package}\t${Architecture}\t${Version}\t${db:Status-Want}\t${db:Status-Status}\t${db:Status-Eflag}\n"

_NEED = re.compile(r"^Need to get (?:[\d.,]+ [kMGT]?B/)?(?P<size>[\d.,]+ [kMGT]?B) of archives", re.MULTILINE)
_GROW = re.compile(r"^After this operation, (?P<size>[\d.,]+ [kMGT]?B) of additional disk space", re.MULTILINE)
_COUNTS = re.compile(
    r"^(?P<rise>\d+) upgraded, (?P<new>\d+) newly installed, (?:(?P<again>\d+) reinstalled, )?"
    r"(?:(?P<down>\d+) downgraded, )?(?P<gone>\d+) to remove and \d+ not upgraded\.",
    re.MULTILINE,
)
_REMOVED = re.compile(r"^The following packages will be REMOVED:\n(?P<names>(?:  .*\n)+)", re.MULTILINE)
_DKMS = re.compile(r"Error! |Consult \S+ for more information")
_UNMET = re.compile(r"^The following packages have unmet dependencies:\n(?P<reasons> \S.*)\Z", re.MULTILINE | re.DOTALL)
_URI = re.compile(r"^'[^']+' (?P<name>\S+) (?P<size>\d+) ?(?P<hash>\S*)$", re.MULTILINE)
_KERNEL = re.compile(r"linux-image-(?:unsigned-)?\d")
"""Packages that hold a kernel: the next boot may take it, and it needs a driver module of its own."""
_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

OPTIONS = (
    *("-q", "-y", "--no-install-recommends", "--allow-change-held-packages"),
    *("-o", "Dpkg::Use-Pty=0", "-o", "APT::Color=0", "-o", "APT::Install-Suggests=0"),
    *("-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"),
)
"""How every transaction of gpuprov calls apt-get: nobody is asked, and files that somebody changed stay."""
LISTS_TOO_OLD = re.compile(
    r"^E: (?:Unable to locate package|Version '.*' for '.*' was not found|Package '.*' has no installation candidate"
    r"|Failed to fetch|Unable to fetch some archives)|Unable to correct problems|have unmet dependencies",
    re.MULTILINE,
)
"""Texts that may only mean that the package lists are older than the plan; fresh lists decide."""


@dataclass(frozen=True)
class Installed:
    """One package as dpkg has it."""

    version: str
    held: bool
    state: str
    """dpkg's status word: `installed`, `half-configured`, `config-files`, ..."""
    broken: bool
    """Whether dpkg asks for it to be installed again."""

    @property
    def present(self) -> bool:
        """Whether files of the package are on the host."""
        return self.state not in {"not-installed", "config-files"}


@dataclass(frozen=True)
class Plan:
    """What the transaction is asked to reach."""

    install: dict[str, str]
    """Name -> version."""
    remove: tuple[str, ...] = ()
    hold: tuple[str, ...] = ()
    release: tuple[str, ...] = ()


@dataclass(frozen=True)
class Todo:
    """The part of a plan that the host does not satisfy yet."""

    install: dict[str, str]
    remove: tuple[str, ...]
    hold: tuple[str, ...]
    release: tuple[str, ...]

    @property
    def apt(self) -> bool:
        """Whether apt has something to do."""
        return bool(self.install or self.remove)

    @property
    def anything(self) -> bool:
        """Whether anything has to be done."""
        return self.apt or bool(self.hold or self.release)


@dataclass(frozen=True)
class Step:
    """One package that a transaction moves; None for "not there"."""

    name: str
    before: str | None
    after: str | None

    def as_dict(self) -> dict[str, str | None]:
        """Write the step for a module's result."""
        return {"name": self.name, "from": self.before, "to": self.after}


@dataclass(frozen=True)
class File:
    """The file that a lock names for a package."""

    version: str
    arch: str
    """Empty for any."""
    sha256: str


@dataclass(frozen=True)
class Uri:
    """A file that apt would fetch."""

    name: str
    """`NAME_VERSION_ARCH.deb`, an epoch's colon written as `%3a`."""
    size: int
    sha256: str
    """Empty where the source names no such digest."""


@dataclass(frozen=True)
class Verdict:
    """What a simulated transaction would do, and what of it is not in the plan."""

    planned: tuple[Step, ...] = ()
    others: tuple[Step, ...] = ()
    """Packages outside the plan that rise or come new."""
    violations: tuple[str, ...] = field(default=())
    """Sentences; the transaction must not run when there is one."""
    removed: tuple[str, ...] = ()
    """Packages outside the plan that would be removed; each is among the violations."""
    download: int = 0
    """Bytes that apt would fetch."""
    growth: int = 0
    """Bytes by which the disk's use would grow."""

    @property
    def need(self) -> dict[str, int]:
        """What the transaction fetches and takes, for a module's result."""
        return {"download": self.download, "growth": self.growth}


def parse_status(text: str, native: str) -> dict[str, Installed]:
    """Read the output of dpkg-query with QUERY_FORMAT; packages of foreign architectures are named `name:arch`."""
    found: dict[str, Installed] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) != 6:  # noqa: PLR2004 - the six fields of QUERY_FORMAT
            continue
        name, arch, version, want, state, flag = fields
        key = name if arch in {native, "all", ""} else f"{name}:{arch}"
        found[key] = Installed(version=version, held=want == "hold", state=state, broken=flag == "reinstreq")
    return found


def compare(plan: Plan, status: dict[str, Installed]) -> Todo:
    """What a plan still asks for; a package that is not fully installed is not satisfied."""

    def satisfied(name: str, version: str) -> bool:
        here = status.get(name)
        return here is not None and here.state == "installed" and here.version == version and not here.broken

    def present(name: str) -> bool:
        return name in status and status[name].present

    # A package that is not there yet is held after the transaction, so its hold is still to do.
    return Todo(
        install={name: version for name, version in plan.install.items() if not satisfied(name, version)},
        remove=tuple(name for name in plan.remove if present(name)),
        hold=tuple(name for name in plan.hold if name not in status or not status[name].held),
        release=tuple(name for name in plan.release if name in status and status[name].held),
    )


def broken_packages(status: dict[str, Installed]) -> tuple[str, ...]:
    """Packages that an interrupted dpkg left behind."""
    whole = {"installed", "not-installed", "config-files", "triggers-awaited", "triggers-pending"}
    return tuple(sorted(name for name, here in status.items() if here.broken or here.state not in whole))


def parse_announced(text: str, native: str, status: dict[str, Installed]) -> tuple[Step, ...]:
    """Read what `apt-get --print-uris` says it would do: one step per package.

    `apt-get -s` says the same and takes twice as long (apt 2.6.1 over Debian's whole archive, 2026-11-30).

    Args:
        text: what apt printed, with an empty folder of archives: a file at hand is not listed.
        native: the host's architecture.
        status: dpkg's view, which knows what is there before.

    Raises:
        ValueError: files and names are not as many as apt counts: not all of it was understood.
    """
    counts, found = _COUNTS.search(text), _REMOVED.search(text)
    files = [file_parts(uri.name) for uri in parse_uris(text)]
    gone = [name.rstrip("*") for name in found["names"].split()] if found else []
    told = [int(counts[key] or 0) for key in ("rise", "new", "again", "down", "gone")] if counts else []
    comes = {name if arch in {native, "all"} else f"{name}:{arch}": version for name, version, arch in files}
    # What dpkg asks for again is fetched, and not counted.
    again = sum(name in status and status[name].broken and _now(status, name) == comes[name] for name in comes)
    if not told or told[4] != len(gone) or not 0 <= len(files) - sum(told[:4]) <= again:
        said = counts[0] if counts else "no count"
        raise ValueError(f"{said} apt names {len(files)} file(s) and {len(gone)} removal(s)")
    moved = dict.fromkeys(gone) | comes
    return tuple(Step(name, _now(status, name), version) for name, version in moved.items())


def judge(plan: Plan, status: dict[str, Installed], steps: tuple[Step, ...], downgrades: set[str]) -> Verdict:
    """Compare a simulated transaction with the plan.

    Args:
        plan: what the transaction is asked to reach.
        status: dpkg's view before it.
        steps: what apt would do.
        downgrades: names of steps whose version goes down (only dpkg can order versions).
    """
    moved = {step.name: step for step in steps}
    planned = tuple(moved[name] for name in (*plan.install, *plan.remove) if name in moved)
    violations = [text for name in plan.install if (text := _not_reached(plan, name, status, moved))]
    violations += [f"{name} would stay, the plan removes it" for name in plan.remove if _stays(name, status, moved)]
    others = []
    for step in steps:
        if step.name in plan.install or step.name in plan.remove:
            continue
        reason = _refused(step, status, downgrades) or _kernel(step, plan)
        if reason:
            violations.append(reason)
        else:
            others.append(step)
    removed = tuple(s.name for s in steps if s.after is None and s.name not in {*plan.install, *plan.remove})
    return Verdict(planned=planned, others=tuple(others), violations=tuple(violations), removed=removed)


def with_need(verdict: Verdict, uris: str) -> Verdict:
    """A verdict with what the transaction fetches and takes, from apt-get's summary."""
    download, growth = parse_need(uris)
    return replace(verdict, download=download, growth=growth)


def _not_reached(plan: Plan, name: str, status: dict[str, Installed], moved: dict[str, Step]) -> str:
    after = moved[name].after if name in moved else _now(status, name)
    wanted = plan.install[name]
    return "" if after == wanted else f"{name} would be {after or 'absent'}, the plan says {wanted}"


def _now(status: dict[str, Installed], name: str) -> str | None:
    return status[name].version if name in status and status[name].present else None


def _stays(name: str, status: dict[str, Installed], moved: dict[str, Step]) -> bool:
    if name in moved:
        return moved[name].after is not None
    return name in status and status[name].present


def _refused(step: Step, status: dict[str, Installed], downgrades: set[str]) -> str:
    """Why a move of a package outside the plan is refused; empty when it may rise or come."""
    if step.after is None:
        return f"{step.name} {step.before} would be removed, the plan does not say so"
    if step.name in downgrades:
        return f"{step.name} would go down from {step.before} to {step.after}"
    if step.name in status and status[step.name].held:
        return f"{step.name} is held at {step.before} and would become {step.after}"
    return ""


def _kernel(step: Step, plan: Plan) -> str:
    """Why a kernel is refused; empty where the plan asks for one, by the package that depends on the newest."""
    if (
        step.before is not None
        or not _KERNEL.match(step.name)
        or any(n.startswith("linux-image-") for n in plan.install)
    ):
        return ""
    return f"{step.name} {step.after} would come: another kernel to boot, the plan does not say so"


def parse_need(text: str) -> tuple[int, int]:
    """Bytes to download and bytes by which the disk's use grows, from apt-get's summary."""
    need, grow = _NEED.search(text), _GROW.search(text)
    return _bytes(need["size"]) if need else 0, _bytes(grow["size"]) if grow else 0


def parse_uris(text: str) -> tuple[Uri, ...]:
    """Read the files of `apt-get --print-uris`, printed with Acquire::ForceHash=SHA256."""
    rows = ((row["name"], int(row["size"]), row["hash"]) for row in _URI.finditer(text))
    return tuple(
        Uri(name, size, digest.removeprefix("SHA256:") if digest.startswith("SHA256:") else "")
        for name, size, digest in rows
    )


def wrong_files(locked: dict[str, File], steps: tuple[Step, ...], uris: tuple[Uri, ...]) -> list[str]:
    """Say which locked packages apt would take from another file than the lock names.

    Args:
        locked: package -> its file; packages that the lock gives no digest for are absent.
        steps: what apt would do.
        uris: what apt would fetch for it.
    """
    offered = {file_parts(uri.name)[:2]: uri for uri in uris}
    texts = []
    for step in steps:
        file = locked.get(step.name)
        if file is None or step.after != file.version:
            continue
        uri = offered.get((step.name, file.version))
        found = uri.sha256 if uri is not None else ""
        if found != file.sha256:
            texts.append(
                f"{step.name} {file.version} is sha256 {found or 'unknown'} on this host, the lock says {file.sha256}"
            )
        elif file.arch and uri is not None and file_parts(uri.name)[2] != file.arch:
            texts.append(f"{step.name} {file.version} is {uri.name} on this host, the lock says {file.arch}")
    return texts


def file_parts(name: str) -> tuple[str, str, str]:
    """Package, version and architecture of a file's name, as apt writes it."""
    package, _, rest = name.removesuffix(".deb").partition("_")
    version, _, arch = rest.rpartition("_")
    return package, unquote(version), arch


def stay_note(names: list[str]) -> str:
    """Say that packages lose their hold and stay."""
    some = ", ".join(sorted(names)[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""  # noqa: PLR2004 - a few names are enough
    return f"installed as before, no longer held: {some}{more}"


def refused_repairs(steps: tuple[Step, ...], plan: Plan) -> list[str]:
    """Packages that a repair would remove, and that the plan neither removes nor installs afterwards."""
    return [s.name for s in steps if s.after is None and s.name not in plan.remove and s.name not in plan.install]


def unsimulated(todo: Todo, status: dict[str, Installed]) -> tuple[Step, ...]:
    """The planned moves themselves, where apt cannot simulate them."""
    moves = [Step(name, _now(status, name), version) for name, version in todo.install.items()]
    return (*moves, *(Step(name, _now(status, name), None) for name in todo.remove))


def moves(before: dict[str, Installed], after: dict[str, Installed]) -> tuple[Step, ...]:
    """What moved between two looks at dpkg's status; a package that was not whole before counts as moved."""

    def whole(status: dict[str, Installed], name: str) -> str | None:
        here = status.get(name)
        return here.version if here is not None and here.state == "installed" else None

    names = sorted({*before, *after})
    steps = (Step(name, whole(before, name), whole(after, name)) for name in names)
    return tuple(step for step in steps if step.before != step.after)


def install_words(plan: Plan, todo: Todo) -> list[str]:
    """The package arguments of apt-get install; a removal is by bare name, whatever version is there."""
    names = [f"{name}={version}" for name, version in sorted(plan.install.items())]
    return names + [f"{name}-" for name in todo.remove]


def last_lines(text: str, count: int = 20) -> str:
    """The end of a log, without empty lines; before it what DKMS said further up, which all that follows hangs on."""
    lines = [line for line in text.splitlines() if line.strip()]
    early, end = lines[:-count], lines[-count:]
    return "\n".join([line for line in early if _DKMS.match(line)] + end)


def reasons(text: str) -> str:
    """The part of apt's answer that says why it finds no way; its end where it gives no such part."""
    found = _UNMET.search(text)
    return found["reasons"].strip() if found else last_lines(text)


def first_conflict(text: str) -> str:
    """`: NAME : Depends: ...` of the first package that apt names; empty where it names none."""
    found = _UNMET.search(text)
    return f": {' '.join(found['reasons'].split(chr(10))[0].split())}" if found else ""


def megabytes(size: int) -> str:
    """Write a size for people."""
    return f"{size / 10**6:.1f} MB"


def _bytes(size: str) -> int:
    number, unit = size.replace(",", "").split(" ")
    return round(float(number) * _UNITS[unit])
