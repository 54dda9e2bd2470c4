"""What a package transaction does so that it can be taken back: keep archives and documents; and how it is taken back.

Owns: when archives are kept, fetched and used in a transaction.
Takes: the module's `rollback` parameter, the steps of a simulated transaction, the private apt root.
Gives: what of the old packages is kept, can be fetched, or is lost; Refused before the host is touched.
Must not: change a package.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from ansible.module_utils import gpuprov_apt as apt
from ansible.module_utils.gpuprov_archives import Archives
from ansible.module_utils.gpuprov_runs import Runs

_SHOWN = 5


class Refused(Exception):  # noqa: N818 - a reason, shown to people
    """Raised when a transaction must not begin.

    Args:
        reason: a word that the controller translates: rollback, restore, space.
        text: one sentence.
        detail: names.
    """

    def __init__(self, reason: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.reason, self.text, self.detail = reason, text, detail


class Keeper:
    """The rollback side of one transaction; it does nothing where none was asked for.

    Args:
        wanted: the module's parameter: run, want, documents, found, required, restore; empty keeps nothing.
        run: runs an argument list and returns (status, stdout, stderr).
        root: the private apt root.
    """

    def __init__(self, wanted: dict[str, object], run, root) -> None:  # noqa: ANN001 - run_command's form, AptRoot
        self._wanted = wanted
        self._run = run
        self._root = root
        self.restore = str(wanted.get("restore") or "")
        """Name of the run that the host is brought back to; empty for a step forward."""
        self.active = bool(wanted)
        if self.active:
            self.archives = Archives(run)
            self.runs = Runs()

    def local(self, install: dict[str, str]) -> tuple[str, list[str]]:
        """For a way back: the kept archives as a source of apt, and which packages are not among them.

        Args:
            install: name -> version of what is to be installed yet.
        """
        if not self.restore:
            return "", []
        missing = [n for n, v in install.items() if self.archives.find(n, v, self.runs.sha256(n, v)) is None]
        self.archives.publish()
        return self.archives.line, missing

    def look(self, steps: tuple[apt.Step, ...]) -> dict[str, object]:
        """Say which of the old packages are kept here, which a source still has, and which are lost."""
        if not self.active or self.restore:
            return {}
        old = _old(steps)
        kept = [(n, v) for n, v in old if self.archives.lists(n, v, self.runs.sha256(n, v))]
        offered = self._offered([pair for pair in old if pair not in kept])
        lost = [pair for pair in old if pair not in kept and pair not in offered]
        return {
            "kept": [" ".join(pair) for pair in kept],
            "fetch": [" ".join(pair) for pair in old if pair in offered],
            "lost": [" ".join(pair) for pair in lost],
            "bytes": self.archives.size(),
        }

    def secure(self, steps: tuple[apt.Step, ...]) -> None:
        """Have the archives of all packages that a transaction replaces or removes.

        Raises:
            Refused: one cannot be had, and a rollback was not waived.
        """
        if not self.active or self.restore:
            return
        missing = [(n, v) for n, v in _old(steps) if self.archives.find(n, v, self.runs.sha256(n, v)) is None]
        offered = self._offered(missing)
        lost = [pair for pair in missing if pair not in offered]
        if offered and (not lost or not self._wanted["required"]):
            lost += self._fetch(offered)
        if lost and self._wanted["required"]:
            names = [" ".join(pair) for pair in lost]
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            text = f"a rollback would not be possible: no source has {', '.join(names[:_SHOWN])}{more}"
            raise Refused("rollback", text, "\n".join(names))

    def keep(self, steps: tuple[apt.Step, ...], folder: Path) -> None:
        """Keep the archives that a transaction is about to install, as soon as apt has fetched them.

        Args:
            steps: what it does to the packages of the plan.
            folder: apt's archives.
        """
        coming = {(step.name, step.after) for step in steps if step.after is not None}
        for path in sorted(folder.glob("*.deb")):
            if apt.file_parts(path.name)[:2] in coming:
                self._take(path)
        self.archives.save()

    def unpack_again(self, install: dict[str, str], status: dict[str, apt.Installed]) -> list[list[str]]:
        """The calls of dpkg that unpack anew, from kept archives, what an interrupted dpkg asks to be installed again.

        apt takes such a package for one that has its version already, and leaves it as it is.

        Args:
            install: name -> version that the plan asks for.
            status: dpkg's.
        """
        if not self.active:
            return []
        rows = [self.archives.find(n, install.get(n, here.version)) for n, here in status.items() if here.broken]
        files = [str(self.archives.path(row)) for row in rows if row is not None]
        return [["dpkg", "--unpack", "--force-confold", *files]] if files else []

    def begin(self, complete: str) -> None:
        """Write the run down before it changes anything.

        Args:
            complete: digest of the want that the host was last brought to; empty for none.
        """
        if self.restore:
            self.runs.go_back(self.restore)
        elif self.active:
            documents = {str(row["name"]): str(row["text"]) for row in list(self._wanted["documents"])}
            found = str(self._wanted["found"])
            self.runs.begin(
                str(self._wanted["run"]), str(self._wanted["want"]), documents, complete=complete, found=found
            )

    def finish(self) -> None:
        """Delete what no rollback needs any more."""
        if self.active:
            self.runs.prune()
            self.archives.prune(self.runs.packages())

    def _offered(self, packages: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those of some packages that the sources of the private root still have."""
        if not packages:
            return []
        names = sorted({name for name, _ in packages})
        status, out, _ = self._run(["apt-cache", "madison", *self._root.options, *names])
        rows = [[word.strip() for word in line.split("|")] for line in out.splitlines()] if status == 0 else []
        there = {(row[0], row[1]) for row in rows if len(row) > 2 and row[2].endswith("Packages")}  # noqa: PLR2004
        return [pair for pair in packages if pair in there]

    def _fetch(self, packages: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Fetch archives and keep those that are what the lock of their time named; returns those that failed."""
        folder = self.archives.folder / "partial"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = [f"{name}={version}" for name, version in packages]
        # apt-get download writes into the working folder, and verifies against the signed index.
        script = 'cd "$0" && exec apt-get download -q "$@"'
        self._run(["/bin/sh", "-c", script, str(folder), *self._root.options, *words])
        for path in sorted(folder.glob("*.deb")):
            name, version, _ = apt.file_parts(path.name)
            self._take(path, self.runs.sha256(name, version))
        self.archives.save()
        shutil.rmtree(folder)
        return [(name, version) for name, version in packages if self.archives.find(name, version) is None]

    def _take(self, path: Path, sha256: str = "") -> None:
        try:
            self.archives.take(path, sha256)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            text = f"{self.archives.folder} has no space for the packages that a rollback needs"
            raise Refused("space", text) from error


def _old(steps: tuple[apt.Step, ...]) -> list[tuple[str, str]]:
    """The packages that steps replace or remove, at the versions that are there."""
    return [(step.name, step.before) for step in steps if step.before is not None and step.before != step.after]
