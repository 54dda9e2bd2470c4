"""HostWant and Removal -> the variables of the roles; pure."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any, Final

from gpuprov.converge.settled import settled_variables
from gpuprov.converge.types import RunDocuments
from gpuprov.plan.removal import Removal
from gpuprov.want.access import SSHD_PATH, is_access_file
from gpuprov.want.containerd import PROGRAM, RUNTIME, TYPE
from gpuprov.want.files import DAEMON_PATH, PINS_PATH, source_paths
from gpuprov.want.mounts import is_mount_unit
from gpuprov.want.tuning import is_tuning_file
from gpuprov.want.types import FileWant, HostWant, Merge, PoolWant

RECORD: Final = PurePosixPath("/var/lib/gpuprov")
"""The folder on a host that holds what gpuprov knows there."""
_VALIDATE_DAEMON: Final = "dockerd --validate --config-file=%s"

Variables = dict[str, Any]


def host_variables(want: HostWant, removal: Removal, *, when: str) -> Variables:
    """Compute the variables of one host.

    Args:
        want: what the host must be; an empty one hands it back.
        removal: what the plan takes away.
        when: the moment of the run, RFC 3339 in UTC, for the record.
    """
    return {
        **package_variables(want.pool, removal),
        **_files(want.pool, removal),
        **settled_variables(want.pool, removal),
        **_frameworks(want.pool, removal),
        **_services(want.pool, removal),
        **_record(want, when),
    }


def document_variables(documents: RunDocuments) -> Variables:
    """The variables that all hosts of a run share."""
    texts = (("spec.yaml", documents.spec), ("lock.json", documents.lock))
    return {"gpuprov_record_documents": [_private(name, text) for name, text in texts]}


def package_variables(pool: PoolWant, removal: Removal) -> Variables:
    """The variables of the package transaction alone."""
    pins = next((file.text for file in pool.files if file.path == PINS_PATH), "")
    return {
        "gpuprov_packages_install": [
            {"name": p.name, "version": p.version, "arch": p.arch, "sha256": p.sha256, "needed": p.needed}
            for p in pool.packages
        ],
        "gpuprov_packages_remove": list(removal.packages),
        "gpuprov_packages_take_over": list(removal.take_over),
        "gpuprov_packages_uninstall": removal.uninstall,
        "gpuprov_packages_hold": [p.name for p in pool.packages],
        "gpuprov_packages_release": list(removal.release),
        "gpuprov_packages_sources": [
            {"path": s.path, "text": s.text, "key_path": s.key_path, "key_text": s.key_text} for s in pool.sources
        ],
        "gpuprov_packages_pins": pins,
    }


def _files(pool: PoolWant, removal: Removal) -> Variables:
    """Each file goes to the role of its concern, by its place."""
    rooms: dict[str, list[FileWant]] = {
        "sources": _of_sources(pool),
        "modules": [],
        "kernel": [],
        "container": [],
        "access": [],
        "tuning": [],
        "storage": [],
        "files": [],
    }
    for file in pool.files:
        rooms[_role_of(file.path, merge=file.merge)].append(file)
    gone: dict[str, list[str]] = {room: [] for room in rooms}
    for path in removal.files:
        if path != SSHD_PATH:  # the step that wrote it takes it away, and tells sshd
            gone[_role_of(path)].append(path)
    gone["sources"] += [path for name in removal.sources for path in source_paths(name)]
    written = {f"gpuprov_{room}_files": [_file(file) for file in files] for room, files in rooms.items()}
    deleted = {f"gpuprov_{room}_delete": sorted(gone[room]) for room in gone if room != "container"}
    return {
        **written,
        **deleted,
        "gpuprov_storage_mounts": [
            {
                "device": m.device,
                "place": m.place,
                "filesystem": m.filesystem,
                "unit": m.unit,
                "shared": m.shared,
                "rights": [*m.rights] if m.rights or m.place in removal.rights else None,
            }
            for m in pool.mounts
        ],
        "gpuprov_container_containerd": _containerd(pool, removal),
        "gpuprov_container_take_back": [_shared(path) for path in removal.take_back],
        "gpuprov_kernel_release": pool.kernel,
        "gpuprov_modules_driver": pool.driver.version if pool.driver else "",
        "gpuprov_modules_pending": "initramfs" in removal.pending,
    }


def _containerd(pool: PoolWant, removal: Removal) -> Variables:
    """What containerd is given, or loses; empty where it is left alone."""
    if pool.containerd:
        return {"runtime": RUNTIME, "type": TYPE, "program": PROGRAM}
    return {"runtime": ""} if removal.containerd else {}


def _shared(path: str) -> Variables:
    """A file of the container engine that loses our keys; the engine takes that in without a restart."""
    return {"path": path, "validate": _VALIDATE_DAEMON, "reload": ["docker"]}


def _of_sources(pool: PoolWant) -> list[FileWant]:
    return [FileWant(path=path, text=text) for source in pool.sources for path, text in source.files]


def _role_of(path: str, *, merge: Merge = Merge.REPLACE) -> str:
    if merge is Merge.JSON:
        return "container"
    if is_access_file(path):
        return "access"
    if is_tuning_file(path):
        return "tuning"
    if is_mount_unit(path):
        return "storage"
    for prefix, role in (("/etc/apt/", "sources"), ("/etc/modprobe.d/", "modules"), ("/etc/default/grub.d/", "kernel")):
        if path.startswith(prefix):
            return role
    return "files"


def _file(file: FileWant) -> Variables:
    check = file.validate or (_VALIDATE_DAEMON if file.path == DAEMON_PATH else "")
    return {
        "path": file.path,
        "text": file.text,
        "mode": file.mode,
        "owner": file.owner,
        "group": file.group,
        "merge": str(file.merge),
        "validate": check,
        "restarts": list(file.restarts),
    }


def _frameworks(pool: PoolWant, removal: Removal) -> Variables:
    want = pool.frameworks
    return {
        "gpuprov_frameworks_environment": want.environment if want else "",
        "gpuprov_frameworks_python": want.python if want else "",
        "gpuprov_frameworks_packages": [asdict(package) for package in want.packages] if want else [],
        "gpuprov_frameworks_indexes": dict(want.indexes) if want else {},
        "gpuprov_frameworks_remove": removal.frameworks,
    }


def _services(pool: PoolWant, removal: Removal) -> Variables:
    units = [
        {"name": s.name, "active": s.active, "enabled": s.enabled, "gpu": s.gpu, "packages": list(s.packages)}
        for s in pool.services
    ]
    return {
        "gpuprov_services_units": units,
        "gpuprov_services_restart": list(removal.restart),
        "gpuprov_services_driver": pool.driver.version if pool.driver else "",
    }


def _record(want: HostWant, when: str) -> Variables:
    if want.pool.hand_back:
        names = (
            "want.json",
            "spec.yaml",
            "lock.json",
            "owned.json",
            "installed.json",
            "merged.json",
            "access.json",
            "tuning.json",
            "proven",
        )
        return {
            "gpuprov_record_documents": [],
            "gpuprov_record_files": [],
            "gpuprov_record_delete": [str(RECORD / name) for name in names],
            # A later run then saves anew what it finds.
            "gpuprov_record_delete_folders": [
                *(str(RECORD / name) for name in ("transactions", "backups", "rollback", "runs")),
                "/var/cache/gpuprov",
            ],
        }
    # On a host that had every package before, the package step has nothing to write there: it brought nothing.
    # The moment alone is no change: a second run of the same want writes nothing.
    brought = {"path": str(RECORD / "installed.json"), "text": "[]\n", "keep": True}
    owned = {"path": str(RECORD / "owned.json"), "text": _json(_owned(want, when)), "volatile": ["when"]}
    return {
        "gpuprov_record_files": [_private("want.json", _json(asdict(want))), brought, owned],
        "gpuprov_record_delete": [],
        "gpuprov_record_delete_folders": [],
    }


def _private(name: str, text: str) -> Variables:
    """A file of the record that may hold more than everybody on the host should read."""
    return {"path": str(RECORD / name), "text": text, "mode": "0600"}


def _owned(want: HostWant, when: str) -> Variables:
    pool = want.pool
    rights = {mount.place: [*mount.rights] for mount in pool.mounts if mount.rights}
    return {
        "packages": {package.name: package.version for package in pool.packages},
        "files": {file.path: _sha256(file.text) for file in (*_of_sources(pool), *_whole(pool.files))},
        "sources": sorted(source.name for source in pool.sources),
        "frameworks": pool.frameworks.environment if pool.frameworks else "",
        "containerd": pool.containerd,
        **({"rights": rights} if rights else {}),
        "want": want.digest,
        "when": when,
    }


def _whole(files: Iterable[FileWant]) -> list[FileWant]:
    """Files that are ours as a whole; a shared file is never owned."""
    return [file for file in files if file.merge is Merge.REPLACE]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
