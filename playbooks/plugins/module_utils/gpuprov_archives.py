"""The package archives that a host keeps for a rollback, and the apt source that they are.

Owns: /var/lib/gpuprov/rollback/: archives, their index, and the lists by which apt finds them.
Takes: files that apt fetched and verified.
Gives: archives whose digest was checked again, and a line for apt's sources.
Must not: fetch a file, or hand out one that is not as it was when it came.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from ansible.module_utils import gpuprov_apt as apt
from ansible.module_utils import gpuprov_record as record

FOLDER = Path("/var/lib/gpuprov/rollback")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Archive:
    """One kept package file."""

    name: str
    version: str
    arch: str
    sha256: str
    size: int
    """Bytes."""
    file: str
    """Its name below `archives/`."""


class Archives:
    """The archives of this host.

    Args:
        run: runs an argument list and returns (status, stdout, stderr).
        folder: where they are kept.
    """

    def __init__(self, run, folder: Path = FOLDER) -> None:  # noqa: ANN001 - run_command's form
        self._run = run
        self.folder = folder
        self._index = folder / "index.json"
        self._sound: dict[str, bool] = {}
        rows = (Archive(**row) for row in record.read_json(self._index, list))
        self._rows = {(row.name, row.version): row for row in rows}

    @property
    def line(self) -> str:
        """The archives as an entry of apt's sources; their digests were checked, so that no signature is asked for."""
        return f"deb [trusted=yes] file:{self.folder} ./\n"

    def lists(self, name: str, version: str, sha256: str = "") -> bool:
        """Whether an archive is there by its size; a mere look does not read gigabytes to be surer."""
        row = self._rows.get((name, version))
        if row is None or (sha256 and row.sha256 != sha256):
            return False
        path = self.path(row)
        return path.is_file() and path.stat().st_size == row.size

    def find(self, name: str, version: str, sha256: str = "") -> Archive | None:
        """A kept archive that is still as it was when it came; None where there is none.

        Args:
            name: package.
            version: exact version.
            sha256: the digest that it must have; empty for the one that it had when it came.
        """
        if not self.lists(name, version, sha256):
            return None
        row = self._rows[(name, version)]
        if row.file not in self._sound:
            self._sound[row.file] = _digest(self.path(row)) == row.sha256
        return row if self._sound[row.file] else None

    def take(self, path: Path, sha256: str = "") -> bool:
        """Keep a package file, named as apt names it; the file stays where it is.

        Returns:
            False when it is not the file with that digest.
        """
        found = _digest(path)
        if sha256 and found != sha256:
            return False
        name, version, arch = apt.file_parts(path.name)
        place = self.folder / "archives" / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(place.name + ".new")
        new.unlink(missing_ok=True)
        try:
            os.link(path, new)
        except OSError:  # another file system, or one without hard links
            shutil.copyfile(path, new)
            with new.open("rb") as stream:
                os.fsync(stream.fileno())
        new.chmod(0o644)
        new.replace(place)
        row = Archive(name, version, arch, found, place.stat().st_size, place.name)
        self._rows[(name, version)] = row
        self._sound[row.file] = True
        return True

    def save(self) -> None:
        """Make what was taken last."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / "archives").is_dir():
            record.sync_folder(self.folder / "archives")
        record.write_json(self._index, [asdict(row) for _, row in sorted(self._rows.items())])

    def publish(self) -> None:
        """Write the lists by which apt finds every archive that is sound."""
        stanzas = []
        for (name, version), row in sorted(self._rows.items()):
            if self.find(name, version) is None:
                continue
            status, fields, _ = self._run(["dpkg-deb", "--field", str(self.path(row))])
            if status == 0:
                stanzas.append(
                    f"{fields.rstrip()}\nFilename: ./archives/{row.file}\nSize: {row.size}\nSHA256: {row.sha256}\n"
                )
        text = "\n".join(stanzas)
        record.write_text(self.folder / "Packages", text)
        data = text.encode()
        # A repository without this file is one that apt warns of; a date in it would only ever be in its way.
        release = f"SHA256:\n {hashlib.sha256(data).hexdigest()} {len(data)} Packages\n"
        record.write_text(self.folder / "Release", release)

    def prune(self, keep: set[tuple[str, str]]) -> None:
        """Delete all archives but those of some packages and versions."""
        gone = [row for key, row in self._rows.items() if key not in keep]
        if not gone:
            return
        self._rows = {key: row for key, row in self._rows.items() if key in keep}
        self.save()
        for row in gone:
            self.path(row).unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes of all kept archives."""
        return sum(row.size for row in self._rows.values())

    def path(self, row: Archive) -> Path:
        """Where an archive is."""
        return self.folder / "archives" / row.file


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as stream:
        for chunk in iter(lambda: stream.read(_CHUNK), b""):
            found.update(chunk)
    return found.hexdigest()
