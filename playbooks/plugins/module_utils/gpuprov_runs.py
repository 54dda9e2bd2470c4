"""The runs of this host: the documents of each want that it was brought to, so that one of them can be wanted again.

Owns: /var/lib/gpuprov/runs/<run>/: run.json, spec.yaml, lock.json, want.json.
Takes: the documents of a run before it changes anything.
Gives: the runs in order, and the packages that the last ones asked for.
Must not: decide which run a host goes back to.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ansible.module_utils import gpuprov_record as record

FOLDER = Path("/var/lib/gpuprov/runs")
FOUND = "as-found"
"""Name of the run that stands for the host before gpuprov first changed a package on it."""
KEEP = 10
"""So many runs stay on the host."""


class Runs:
    """The runs of this host, the oldest first.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        paths = sorted(folder.glob("*/run.json")) if folder.is_dir() else []
        rows = [dict(record.read_json(path, dict)) for path in paths]
        self.rows = sorted(rows, key=lambda row: int(row["number"]))

    def begin(self, run: str, want: str, documents: dict[str, str], *, complete: str, found: str) -> None:
        """Write a run down before it changes anything; the same want once more is the same run.

        Args:
            run: its name.
            want: digest of the host's want.
            documents: name -> text.
            complete: digest of the want that the host was last brought to, by its record; empty for none.
            found: the host as it was before gpuprov, as a want; empty where it had nothing to go back to.
        """
        if not self.rows and found:
            self._add(FOUND, str(json.loads(found)["digest"]), {"want.json": found}, done=True)
        newest = self.rows[-1] if self.rows else None
        if newest is not None and newest["want"] == want and not newest["left"]:
            return
        if newest is not None and newest["want"] == complete and not newest["done"]:
            self._write({**newest, "done": True})
        self._add(run, want, documents, done=False)

    def go_back(self, run: str) -> None:
        """Mark every run after another one as left: the host is brought back to that one."""
        number = next((row["number"] for row in self.rows if row["run"] == run), None)
        for row in list(self.rows):
            if number is not None and row["number"] > number and not row["left"]:
                self._write({**row, "left": True})

    def packages(self) -> set[tuple[str, str]]:
        """Packages, with versions, that a rollback may need: of the newest run, and of the last two to go back to."""
        newest = self.rows[-1:]
        complete = [row for row in self.rows[:-1] if row["done"] and not row["left"]]
        # After a rollback the host is at the last of these, and may go back to the one before.
        back = complete[-2:] if newest and newest[0]["left"] else complete[-1:]
        return {(str(p["name"]), str(p["version"])) for row in [*newest, *back] for p in self._packages(row)}

    def sha256(self, name: str, version: str) -> str:
        """The digest that a run's lock named for a package; empty where none did."""
        for row in reversed(self.rows):
            for package in self._packages(row):
                if (package["name"], package["version"]) == (name, version) and package.get("sha256"):
                    return str(package["sha256"])
        return ""

    def prune(self) -> None:
        """Delete the oldest runs."""
        for row in self.rows[:-KEEP]:
            shutil.rmtree(self.folder / row["run"])
        self.rows = self.rows[-KEEP:]

    def _add(self, run: str, want: str, documents: dict[str, str], *, done: bool) -> None:
        folder = self.folder / run
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        for name, text in documents.items():
            record.write_text(folder / name, text, 0o600)
        number = int(self.rows[-1]["number"]) + 1 if self.rows else 0
        self._write({"run": run, "number": number, "want": want, "done": done, "left": False})

    def _write(self, row: dict[str, object]) -> None:
        record.write_text(self.folder / str(row["run"]) / "run.json", json.dumps(row, sort_keys=True) + "\n", 0o600)
        others = [other for other in self.rows if other["number"] != row["number"]]
        self.rows = sorted([*others, row], key=lambda each: int(each["number"]))

    def _packages(self, row: dict[str, object]) -> list[dict[str, str]]:
        want = dict(record.read_json(self.folder / str(row["run"]) / "want.json", dict))
        return list(dict(want.get("pool", {})).get("packages", []))
