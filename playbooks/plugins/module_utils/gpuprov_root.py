"""apt's own folder for gpuprov on a host: our sources and pins beside the host's, lists of its own.

Owns: /var/cache/gpuprov/apt, a cache that may be deleted at any time; for a mere look a folder beside it, which goes.
Takes: the wanted sources with their keys and the pins' text.
Gives: apt-get options under which a transaction is simulated and then run, so that both see the same lists.
Must not: change the host's sources, lists or keys.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ansible.module_utils import gpuprov_apt as apt

ROOT = Path("/var/cache/gpuprov/apt")
HOST_ETC = Path("/etc/apt")
HOST_LISTS = Path("/var/lib/apt/lists")

_ABANDONED = 3600.0
"""Seconds after which a temporary folder is nobody's any more: no look takes so long."""
_NO_HOOKS = "".join(f"#clear APT::Update::{when};\n" for when in ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"))
"""What a host does with lists that were fetched is about its own: apt-file, PackageKit and the like."""
_RELEASE = re.compile(r"^(?P<prefix>.*)_(?:In)?Release$")


class AptRoot:
    """A private apt configuration on the host.

    Args:
        root: folder that holds it; made when absent.
        host_etc: the host's apt configuration.
        host_lists: the host's package lists, of which newer ones are linked.
    """

    def __init__(self, root: Path = ROOT, host_etc: Path = HOST_ETC, host_lists: Path = HOST_LISTS) -> None:
        self.root = root
        self._kept = root
        self._etc = host_etc
        self._host_lists = host_lists

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Work in a temporary folder for a while; then it is gone, and the host as it was before."""
        place = self._kept.parent
        made = not place.exists()
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("look-*"):
            if time.time() - old.stat().st_mtime > _ABANDONED:
                shutil.rmtree(old, ignore_errors=True)  # of a look that was killed
        folder = Path(tempfile.mkdtemp(prefix="look-", dir=place))
        self.root = folder / "apt"
        try:
            yield
        finally:
            self.root = self._kept
            shutil.rmtree(folder, ignore_errors=True)
            if made and not any(place.iterdir()):
                place.rmdir()

    @property
    def options(self) -> list[str]:
        """The options that point apt-get at this folder."""
        return [
            *("-o", f"Dir::Etc::sourcelist={self.root}/sources.list"),
            *("-o", f"Dir::Etc::sourceparts={self.root}/sources.list.d"),
            *("-o", f"Dir::Etc::preferencesparts={self.root}/preferences.d"),
            *("-o", f"Dir::State::lists={self.root}/lists"),
            *("-o", f"Dir::Cache={self.root}/cache"),
            *("-o", "APT::Get::List-Cleanup=0"),
        ]

    @property
    def update(self) -> list[str]:
        """The options of `apt-get update`: those that point at this folder, and none of the host's hooks.

        Only a file can clear a list, and only one that is named on the command line is read after the host's
        (apt.conf(5) of apt 2.6.1).
        """
        return [*self.options, "-c", f"{self.root}/apt.conf"]

    @property
    def update_ours(self) -> list[str]:
        """The same, restricted to our own sources."""
        return [
            *self.update,
            *("-o", "Dir::Etc::sourcelist=/dev/null"),
            *("-o", f"Dir::Etc::sourceparts={self.root}/ours.d"),
        ]

    @property
    def announcing(self) -> tuple[str, ...]:
        """The words that make `apt-get install` say what it would do, and with which files.

        With an empty folder for archives: a file at hand would not be listed, and would go unseen.
        """
        empty = self.root / "no-archives"
        (empty / "partial").mkdir(parents=True, exist_ok=True)
        return ("--print-uris", "-o", f"Dir::Cache::archives={empty}", "-o", "Acquire::ForceHash=SHA256")

    def has_archive(self, name: str, size: int) -> bool:
        """Whether an earlier transaction fetched a file already."""
        path = self._kept / "cache" / "archives" / name
        return path.is_file() and path.stat().st_size == size

    def short_of(self, uris: str) -> str:
        """Compare what apt needs with what the file systems have.

        Args:
            uris: what apt printed about the files to fetch.

        Returns:
            A sentence; empty where there is enough.
        """
        download, growth = apt.parse_need(uris)
        download -= sum(file.size for file in apt.parse_uris(uris) if self.has_archive(file.name, file.size))
        needs: dict[int, tuple[str, int]] = {}
        archives = self._kept / "cache" / "archives"
        there = next(path for path in (archives, *archives.parents) if path.is_dir())
        for folder, size in ((str(there), download), ("/usr", growth)):
            device = Path(folder).stat().st_dev
            name, before = needs.get(device, (folder, 0))
            needs[device] = (name, before + size)
        for folder, size in needs.values():
            if _free(folder) < size:
                return f"{folder} needs {apt.megabytes(size)} and has {apt.megabytes(_free(folder))}"
        return ""

    def write(self, sources: list[dict[str, str]], pins: str, local: str = "") -> None:
        """Write the configuration anew, keeping lists that are still good.

        Args:
            sources: ours.
            pins: text of the preferences.
            local: an entry that goes before all others: apt takes a file from the first source that has it.
        """
        for name in ("sources.list.d", "ours.d", "preferences.d", "keyrings"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name in (
            "sources.list.d",
            "ours.d",
            "preferences.d",
            "keyrings",
            "lists/partial",
            "cache/archives/partial",
        ):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for folder in (self.root.parent, self.root, self.root / "keyrings"):
            folder.chmod(0o755)  # apt downloads and verifies as its own user
        _write(self.root / "apt.conf", _NO_HOOKS)
        self._copy_host(local)
        if local:
            _write(self.root / "ours.d" / "gpuprov-kept.list", local)
        for source in sources:
            text = source["text"]
            if source["key_path"]:  # else it is signed by the OS's own keyring
                key = self.root / "keyrings" / Path(source["key_path"]).name
                text = text.replace(source["key_path"], str(key))
                _write(key, source["key_text"])
            _write(self.root / "ours.d" / Path(source["path"]).name, text)
            _write(self.root / "sources.list.d" / Path(source["path"]).name, text)
        if pins:
            _write(self.root / "preferences.d" / "gpuprov.pref", pins)
        self._link_lists()

    def _copy_host(self, local: str) -> None:
        main = self._etc / "sources.list"
        text = main.read_text(errors="replace") if main.is_file() else ""
        _write(self.root / "sources.list", local + text)
        for kind, pattern in (("sources.list.d", ("*.list", "*.sources")), ("preferences.d", ("*",))):
            for path in sorted(p for glob in pattern for p in (self._etc / kind).glob(glob)):
                if path.is_file() and not path.name.startswith("gpuprov"):
                    shutil.copyfile(path, self.root / kind / path.name)

    def _link_lists(self) -> None:
        """Take over the lists of the host's sources that are newer than ours, source by source."""
        lists = self.root / "lists"
        for path in list(lists.iterdir()):
            if path.is_symlink() and not path.exists():
                path.unlink()
        if self.root != self._kept:
            _link_newer(self._kept / "lists", lists)
        _link_newer(self._host_lists, lists)


def _link_newer(there: Path, lists: Path) -> None:
    if not there.is_dir():
        return
    names = sorted(path.name for path in there.iterdir())
    for name in names:
        found = _RELEASE.match(name)
        if found is None or not _newer(there / name, lists / name):
            continue
        prefix = found["prefix"] + "_"
        for stale in [path for path in lists.iterdir() if path.name.startswith(prefix)]:
            stale.unlink()
        for other in names:
            if other.startswith(prefix):
                (lists / other).symlink_to(there / other)


def _free(folder: str) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _newer(left: Path, right: Path) -> bool:
    return not right.exists() or right.is_symlink() or left.stat().st_mtime > right.stat().st_mtime


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
