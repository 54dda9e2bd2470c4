"""The want that a host already met before a run: what a rollback of the first run goes back to."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, replace

from gpuprov.document.canonical import digest
from gpuprov.model.address import member_address
from gpuprov.model.fact import Known, Value
from gpuprov.model.snapshot import Snapshot
from gpuprov.want.asked import owned_paths
from gpuprov.want.host import host_want
from gpuprov.want.types import DriverWant, FileWant, HostWant, Merge, Owned, PackageWant


def found_want(want: HostWant, snapshot: Snapshot, owned: Owned, going: Collection[str] = ()) -> HostWant | None:
    """Say what a host is now, in the terms of a want.

    Args:
        want: what it is about to be brought to.
        snapshot: of before.
        owned: what gpuprov made on the host before, such as in the image it was started from.
        going: packages of others that are about to be removed.

    Returns:
        The packages that are there, of all that are wanted or owned, at their versions; the files that are ours
        already; the driver in use. None where no such package is there: then there is nothing to go back to.
    """
    names = sorted({package.name for package in want.pool.packages} | set(owned.packages) | set(going))
    packages = tuple(_packages(names, snapshot))
    if not packages:
        return None
    there = {package.name for package in packages}
    pool = replace(
        want.pool,
        packages=packages,
        sources=(),
        files=(*_files(owned, snapshot), *_merged(owned, want.pool.files)),
        services=tuple(
            replace(service, packages=tuple(name for name in service.packages if name in there))
            for service in want.pool.services
            if set(service.packages) & there and _value(snapshot, "service", service.name, "active") == "active"
        ),
        exporters=(),
        driver=_driver(snapshot) if want.pool.driver is not None else None,
        on_disk=_text(snapshot.observe("stack.driver.on_disk")),
        verify=(),
        digest="",
    )
    return host_want(replace(pool, digest=digest(asdict(pool))), want.host)


def _packages(names: list[str], snapshot: Snapshot) -> Iterator[PackageWant]:
    for name in names:
        version = _value(snapshot, "package", name, "version")
        if isinstance(version, str) and _value(snapshot, "package", name, "state") == "installed":
            yield PackageWant(name=name, version=version, arch="", source="", sha256="")


def _files(owned: Owned, snapshot: Snapshot) -> Iterator[FileWant]:
    for path in owned_paths(owned):
        text, seen = _value(snapshot, "file", path, "text"), _value(snapshot, "file", path, "sha256")
        # A text in which a secret was replaced is not the file's.
        if isinstance(text, str) and hashlib.sha256(text.encode()).hexdigest() == seen:
            mode, owner, group = (str(_value(snapshot, "file", path, leaf)) for leaf in ("mode", "owner", "group"))
            yield FileWant(path=path, text=text, mode=mode, owner=owner, group=group)


def _merged(owned: Owned, wanted: Iterable[FileWant]) -> Iterator[FileWant]:
    """Our keys in files of others, which stay in them."""
    files = {file.path: file for file in wanted}
    for path, keys in sorted(owned.merged.items()):
        restarts = files[path].restarts if path in files else ()
        yield FileWant(path=path, text=keys.ours, merge=Merge.JSON, restarts=restarts)


def _driver(snapshot: Snapshot) -> DriverWant | None:
    version, modules = (_text(snapshot.observe(f"stack.driver.{leaf}")) for leaf in ("loaded", "modules"))
    return DriverWant(version=version, modules=modules) if version and modules else None


def _value(snapshot: Snapshot, family: str, member: str, leaf: str) -> Value | None:
    return snapshot.known(member_address(family, member, leaf))


def _text(seen: object) -> str:
    return str(seen.value) if isinstance(seen, Known) else ""
