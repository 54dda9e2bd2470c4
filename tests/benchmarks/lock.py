"""How long a lock of a large set takes, beside apt's simulation of the same request on the same indexes.

The archive's signed indexes are fetched once and laid out in a folder; both programs read that folder, so that no
network is measured. Each run is a whole process: `gpuprov lock` from an empty lock, `apt-get -s install` in a root
of its own with an empty status. Wall and CPU seconds are printed; the goals are of CPU seconds, which a busy machine
changes least.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from measure import GPUPROV, Command, Goal, once, report, rounds

from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.fetch import Fetcher
from gpuprov.sources.keys import read_keys
from gpuprov.sources.layout import release_root, wanted_files
from gpuprov.sources.os_source import KEYRINGS, os_sources
from gpuprov.sources.release import parse_release
from gpuprov.sources.signature import verify_inline
from gpuprov.store.cache import cache_folder

ROUNDS = 1
WANTED = ("docker.io", "nvidia-driver", "nvidia-cuda-toolkit", "prometheus")
COMPONENTS = ("main", "contrib", "non-free", "non-free-firmware")
OS, ARCH = "debian-12", "amd64"
KEY = KEYRINGS["debian"]
APT, COLD_APT = "apt-get -s install", "the same without apt's cache"
WARM, AGAIN, COLD = "gpuprov lock, warm", "gpuprov lock, nothing to do", "gpuprov lock, cold"


def main() -> int:
    """Measure and print the table; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory(prefix="gpuprov-benchmark-") as name:
        folder = Path(name)
        sources = list(_laid_out(folder / "archive"))
        site, apt = _site(folder / "site", sources), _apt(folder / "apt", sources)
        print(f"{', '.join(WANTED)} of {OS} {'+'.join(COMPONENTS)}: {_compared(site, apt)}")
        samples = rounds(_commands(site, apt), ROUNDS)
    goals = (Goal(label=WARM, ratio=0.3, peak=150), Goal(label=COLD, ratio=1, peak=150))
    return 0 if report(samples, APT, goals) else 1


def _laid_out(folder: Path) -> Iterator[SourceDefinition]:
    """Every suite of the machine's archive as a repository in a folder, with the archive's own signature."""
    fetcher = Fetcher(cache=cache_folder() / "sources")
    for source in os_sources(OS, components=COMPONENTS):
        root, target = release_root(source), folder / "dists" / source.suite
        inline = fetcher.release(f"{root}InRelease", source.name)
        if inline is None:
            sys.exit(f"{source.name} has no InRelease")
        now = datetime.now(UTC)
        release = parse_release(
            verify_inline(inline, read_keys(source.keys, source.name), source.name, now), source.name
        )
        target.mkdir(parents=True)
        (target / "InRelease").write_bytes(inline)
        for wanted in wanted_files(source, release, ARCH):
            kept = fetcher.by_digest(wanted.urls, source.name, sha256=wanted.file.sha256, size=wanted.file.size)
            path = target / wanted.file.path
            path.parent.mkdir(parents=True)
            shutil.copyfile(kept, path)
        yield SourceDefinition(
            name=source.suite, url=folder.as_uri(), suite=source.suite, components=COMPONENTS, keys=b"", on_host=True
        )


def _site(folder: Path, sources: list[SourceDefinition]) -> Path:
    """A spec over the folder; the first suite is the archive itself."""
    folder.mkdir()
    named = {
        source.name.replace(sources[0].name, "os"): {
            "url": source.url, "suite": source.suite, "components": COMPONENTS, "key": KEY
        }
        for source in sources
    }  # fmt: skip
    spec = {
        "apiVersion": "gpuprov/v1", "name": "benchmark", "os": OS, "sources": named,
        "stack": {"packages": WANTED}, "pools": {"cpu": {"gpu": "none"}},
    }  # fmt: skip
    (folder / "gpuprov.yaml").write_text(json.dumps(spec, indent=2))
    return folder


def _apt(folder: Path, sources: list[SourceDefinition]) -> tuple[str, ...]:
    """The words of apt-get in a root of its own, with its lists and its caches ready."""
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    lines = [f"deb [signed-by={KEY} target=Packages] {s.url} {s.suite} {' '.join(s.components)}\n" for s in sources]
    (folder / "sources.list").write_text("".join(lines))
    options = {
        "Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": folder / "parts",
        "Dir::Etc::Preferences": "/dev/null", "Dir::Etc::PreferencesParts": folder / "parts",
        "Dir::State": folder, "Dir::State::status": folder / "status", "Dir::Cache": folder / "cache",
        # apt's defaults; the configuration of container images says otherwise, and would slow apt down.
        "Dir::Cache::pkgcache": "pkgcache.bin", "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
        "Acquire::GzipIndexes": "false",
        "APT::Architecture": ARCH, "APT::Sandbox::User": "root", "Acquire::Languages": "none",
    }  # fmt: skip
    words = ("apt-get", *(word for name, value in options.items() for word in ("-o", f"{name}={value}")))
    once(Command(argv=(*words, "update"), folder=folder))
    return (*words, "-s", "install", "--no-install-recommends", *WANTED)


def _compared(site: Path, apt: tuple[str, ...]) -> str:
    """Run both once and compare what they plan; a benchmark of two different answers says nothing."""
    once(Command(argv=(GPUPROV, "lock"), folder=site, more=_cache(site)))
    locked = json.loads((site / "gpuprov.lock").read_text())["body"]["pools"]["cpu"]
    printed = subprocess.run(apt, capture_output=True, text=True, check=True).stdout
    plan = {line.split()[1]: line.split()[2].lstrip("(") for line in printed.splitlines() if line.startswith("Inst ")}
    if not list(_apt_cache(apt).glob("*.bin")):
        sys.exit("apt keeps no cache: its time would be compared without it")
    rows = {row["name"]: row["version"] for row in locked["packages"]}
    needed = {bound["name"] for bound in locked["bounds"]}
    if rows != {name: plan[name] for name in WANTED} or not needed <= plan.keys():
        sys.exit(f"gpuprov and apt plan different packages: {rows}, {needed - plan.keys()}")
    return f"{len(plan)} packages in apt's plan"


def _cache(site: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(site / "cache")}


def _apt_cache(apt: tuple[str, ...]) -> Path:
    return next(Path(word.partition("=")[2]) for word in apt if word.startswith("Dir::Cache="))


def _commands(site: Path, apt: tuple[str, ...]) -> dict[str, Command]:
    cache, lock = site / "cache", site / "gpuprov.lock"

    def fresh() -> None:
        lock.unlink(missing_ok=True)

    def cold() -> None:
        fresh()
        shutil.rmtree(cache / "gpuprov" / "sources" / "index", ignore_errors=True)  # the fetched files stay

    def no_cache() -> None:
        for path in _apt_cache(apt).glob("*.bin"):
            path.unlink()

    ours = Command(argv=(GPUPROV, "lock"), folder=site, more=_cache(site))
    return {
        APT: Command(argv=apt, folder=site),
        COLD_APT: Command(argv=apt, folder=site, before=no_cache),
        WARM: replace(ours, before=fresh),
        AGAIN: ours,
        COLD: replace(ours, before=cold),
    }


if __name__ == "__main__":
    sys.exit(main())
