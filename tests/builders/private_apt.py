"""apt in a root of its own: own lists and an empty system, nothing of this machine's but the program and its proxy."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from gpuprov.sources.definition import SourceDefinition

Plan = Mapping[str, str]
"""Version of each package that would be installed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrivateApt:
    """One root, and the apt-get that works in it."""

    root: Path
    program: tuple[str, ...] = ("apt-get",)

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run apt-get in the root."""
        settings = {
            "APT::Architecture": "amd64",
            # apt's defaults here and for its caches; the configuration of container images says otherwise.
            "APT::AutoRemove::RecommendsImportant": "true",
            "APT::AutoRemove::SuggestsImportant": "true",
            "APT::Architectures": "amd64",
            "APT::Default-Release": "",
            "APT::Install-Recommends": "0",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Dir::Cache": f"{self.root}/cache",
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
            "Dir::Etc::Preferences": f"{self.root}/preferences",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": f"{self.root}/sources",
            "Dir::State": str(self.root),
            "Dir::State::status": f"{self.root}/status",
        }
        given = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        environment = os.environ | {"LC_ALL": "C.UTF-8"}
        argv = [*self.program, *given, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=check, timeout=240, env=environment)

    def plan(self, words: Sequence[str]) -> Plan | None:
        """What apt would install for some names, or for `name=version`; None when it refuses.

        Asked through --print-uris: the same packages as in a simulation, in a third of the time.
        """
        done = self.run("--print-uris", "-qq", "-y", "install", *words, check=False)
        if not self._accepted(done):
            return None
        files = [line.split("' ", 1)[1].split()[0] for line in done.stdout.splitlines() if line.startswith("'")]
        names = [unquote(file).removesuffix(".deb").split("_") for file in files]
        return {name: version for name, version, _ in names}

    def simulate(self, *words: str) -> Plan | None:
        """What a simulation of any command would install or move; None when apt refuses."""
        done = self.run("-s", "-y", *words, check=False)
        if not self._accepted(done):
            return None
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("Inst ")]
        # `Inst name (new ...)`, or `Inst name [old] (new ...)`
        return {words[1]: next(w for w in words if w.startswith("(")).removeprefix("(") for words in lines}

    def _accepted(self, done: subprocess.CompletedProcess[str]) -> bool:
        if done.returncode == 0:
            return True
        refusals = ("unmet dependencies", "Unable to correct problems", "no installation candidate", "broken packages")
        if any(text in done.stdout + done.stderr for text in refusals):
            return False
        raise AssertionError(f"apt failed for another reason: {done.stderr}\n{done.stdout[-2000:]}")


def make_apt(root: Path, entries: Sequence[str]) -> PrivateApt:
    """Make a root for some sources (deb822 entries, in order) and fetch their lists."""
    for folder in ("sources", "lists/partial", "cache/archives/partial"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name in ("status", "preferences"):
        (root / name).touch()
    for number, entry in enumerate(entries):
        (root / "sources" / f"{number:02}.sources").write_text(entry, encoding="utf-8")
    apt = PrivateApt(root=root)
    apt.run("update")
    return apt


def entry_of(definition: SourceDefinition, folder: Path) -> str:
    """One source of gpuprov's as apt's entry; its key goes into the folder."""
    suffix = ".asc" if definition.keys.startswith(b"-----") else ".gpg"
    key = folder / (definition.name.replace("/", "-") + suffix)
    key.write_bytes(definition.keys)
    fields = {
        "Types": "deb",
        "URIs": definition.url,
        "Suites": definition.suite,
        "Components": " ".join(definition.components),
        "Signed-By": str(key),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)
