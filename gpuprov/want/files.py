"""The files that gpuprov writes on a host: apt sources and pins, module settings, the container engine's runtime."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gpuprov.lock.types import LockedSource
from gpuprov.want.mounts import MountWant
from gpuprov.want.types import FileWant, Merge, PackageWant, SourceWant

MARKER: Final = "# Managed by gpuprov. Change the spec, not this file."
"""First line of every file that is ours as a whole; it holds no digest, so that it changes only when the rest does."""

PINS_PATH: Final = "/etc/apt/preferences.d/gpuprov.pref"
NOUVEAU_PATH: Final = "/etc/modprobe.d/gpuprov-nouveau.conf"
DAEMON_PATH: Final = "/etc/docker/daemon.json"

# Above 1000 apt goes back to a pinned version as well (apt_preferences(5), apt 2.6): a drift upwards is repaired.
_PRIORITY: Final = 1001


def source_paths(name: str) -> tuple[str, str]:
    """Give the paths of a source of ours: its entry and its key."""
    return f"/etc/apt/sources.list.d/gpuprov-{name}.sources", f"/etc/apt/keyrings/gpuprov-{name}.asc"


def source_want(source: LockedSource, arch: str) -> SourceWant:
    """Write a source as apt's deb822 entry (sources.list(5)), bound to its own key."""
    path, key_path = source_paths(source.name)
    fields = [
        ("Types", "deb"),
        ("URIs", source.url),
        ("Suites", source.suite),
        ("Components", " ".join(source.components)),  # a flat repository has none, and apt refuses an empty field
        ("Architectures", arch),
        ("Signed-By", source.keyring or key_path),
    ]
    text = "".join(f"{name}: {value}\n" for name, value in fields if value)
    return SourceWant(
        name=source.name,
        path=path,
        text=f"{MARKER}\n{text}",
        key_path="" if source.keyring else key_path,
        key_text="" if source.keyring else source.key_text,
    )


def pins_file(packages: Iterable[PackageWant], sources: Iterable[LockedSource] = ()) -> FileWant:
    """Pin every owned package to its locked version, so that no upgrade on the host moves it.

    Args:
        packages: the owned packages.
        sources: those that the host gets; what has a priority of its own has it on the host too.
    """
    stanzas = [
        f"Package: {package.name}\nPin: version {package.version}\nPin-Priority: {_PRIORITY}\n"
        for package in sorted(packages, key=lambda package: package.name)
    ]
    # After the packages: what names a package goes before what names all of them, wherever it stands.
    stanzas += [
        f"Package: *\nPin: release {source.selector}\nPin-Priority: {source.priority}\n"
        for source in sorted(sources, key=lambda source: source.name)
        if source.priority is not None
    ]
    return FileWant(path=PINS_PATH, text=f"{MARKER}\n\n" + "\n".join(stanzas))


def nouveau_file() -> FileWant:
    """Keep the kernel's own driver away from the GPUs."""
    return FileWant(path=NOUVEAU_PATH, text=f"{MARKER}\nblacklist nouveau\noptions nouveau modeset=0\n")


def runtime_file(engine_unit: str) -> FileWant:
    """Give the container engine NVIDIA's runtime; everything else in its configuration stays (case A17)."""
    runtimes = {"runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}}
    return FileWant(path=DAEMON_PATH, text=dump_json(runtimes), merge=Merge.JSON, restarts=(engine_unit,))


def mount_files(mounts: Iterable[MountWant]) -> tuple[FileWant, ...]:
    """The units of mounts."""
    return tuple(FileWant(path=mount.path, text=f"{MARKER}\n{mount.text}") for mount in mounts)


def dump_json(value: object) -> str:
    """Write JSON as gpuprov writes it into files of a host: keys as they stand, four spaces, a newline at the end."""
    return json.dumps(value, indent=4, ensure_ascii=False) + "\n"


def merge_json(present: str, ours: str) -> str:
    """Merge our JSON object into the one that is there: our keys win, foreign keys and objects stay.

    Args:
        present: the file's text; empty counts as an empty object.
        ours: a JSON object.

    Raises:
        ValueError: when the present text is no JSON object; it must then not be replaced silently.
    """
    there = json.loads(present) if present.strip() else {}
    if not isinstance(there, dict):
        raise ValueError(f"expected a JSON object, found {type(there).__name__}")  # noqa: TRY004 bad text, no bad call
    return dump_json(_merged(there, json.loads(ours)))


def _merged(there: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(there)
    for key, value in ours.items():
        before = result.get(key)
        result[key] = _merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return result
