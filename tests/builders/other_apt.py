"""The apt of another Debian release, unpacked into a folder and run with its own libraries: nothing is installed."""

import subprocess
from dataclasses import replace
from pathlib import Path

from differential import COMPONENTS, os_name
from private_apt import PrivateApt, entry_of, make_apt

from gpuprov.sources.os_source import os_sources


def unpack_apt(suite: str, folder: Path, lists: PrivateApt) -> PrivateApt:
    """Fetch and unpack apt and what it needs from a suite of this machine's archive.

    Args:
        suite: such as `trixie`; its Release must be signed by a key of this machine's keyring.
        folder: where everything goes.
        lists: a root whose sources and lists the other apt is to work on.
    """
    main, *_ = os_sources(os_name(), components=COMPONENTS)
    folder.mkdir(parents=True)
    fetching = make_apt(folder / "fetch", [entry_of(replace(main, suite=suite, components=("main",)), folder)])
    fetching.run("install", "--download-only", "-y", "-qq", "apt")
    system = folder / "system"
    system.mkdir()
    for file in sorted((folder / "fetch/cache/archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(file), str(system)], check=True, timeout=120)
    # Through its own loader, not in a chroot: needs no root, and the lists stay where they are.
    libraries = system / "usr/lib/x86_64-linux-gnu"
    program = (
        str(libraries / "ld-linux-x86-64.so.2"),
        "--library-path",
        str(libraries),
        str(system / "usr/bin/apt-get"),
    )
    work = folder / "work"
    (work / "cache/archives/partial").mkdir(parents=True)
    for name in ("sources", "lists", "status", "preferences"):
        (work / name).symlink_to(lists.root / name)
    return PrivateApt(root=work, program=program)
