"""Publishes the vendor's packages as a signed flat apt repository, in the form of NVIDIA's own."""

import fcntl
import gzip
import hashlib
import json
import lzma
import os
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from enum import StrEnum
from pathlib import Path

from gpuprov.lab.vendor.packages import Package, control_of, described, inputs_digest
from gpuprov.lab.vendor.packages import build as build_package
from gpuprov.lab.vendor.signing import SigningKey, lasting_key, make_key
from gpuprov.model.progress import Progress, Report, ignore_progress

KEY_FILE = "lab-vendor.asc"
"""The certificate's name inside the published folder, as NVIDIA publishes its own beside the packages."""
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "sbsa"}
"""NVIDIA's names of Debian's architectures, in the Architecture field of Release and in the repository's address."""

_POOL_SECONDS = 14 * 24 * 3600.0
"""How long packages built from other inputs are kept after their last use."""


class Signature(StrEnum):
    """How the index is signed: well, or with a fault that clients must notice."""

    GOOD = "good"
    """As it should be."""
    OTHER_KEY = "other-key"
    """By a key that is not the published one."""
    TAMPERED = "tampered"
    """One character of the signed text was changed afterwards."""
    MISSING = "missing"
    """Not at all: Release without InRelease and Release.gpg."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorRow:
    """One package on offer."""

    name: str
    version: str
    architecture: str
    file_name: str
    sha256: str
    size: int
    """Bytes."""
    releases: tuple[str, ...]
    """The releases that it belongs to, such as `driver/580.95.05`."""
    control: str
    """Its control file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorRepository:
    """A published repository."""

    folder: Path
    """Where it lies; serve it as it is, or name it as a `file:` source."""
    key: Path
    """The certificate that signs it, in ASCII armour."""
    fingerprint: str
    rows: tuple[VendorRow, ...]

    def versions(self, name: str) -> tuple[str, ...]:
        """Gives the versions of a package on offer, in the order of the descriptions (oldest first)."""
        return tuple(row.version for row in self.rows if row.name == name)


def build(
    folder: Path,
    *,
    architecture: str = "amd64",
    driver_releases: Sequence[str] | None = None,
    withdraw: Collection[str] = (),
    valid_until: datetime | None = None,
    signature: Signature = Signature.GOOD,
    cache: Path | None = None,
    progress: Report = ignore_progress,
) -> VendorRepository:
    """Publishes into a folder; publishing again with other choices updates it and signs anew, with the same key.

    Args:
        folder: where to; other files in it that end in .deb are removed.
        architecture: of the nodes: amd64 or arm64.
        driver_releases: the driver releases to offer, such as ("580.95.05", "595.58.03"); None for all described ones.
        withdraw: what not to offer, or no longer: releases as `driver/580.95.05`, or single packages as
            `libcuda1=580.95.05-1`.
        valid_until: a Valid-Until field in the index; NVIDIA's has none.
        signature: how to sign.
        cache: gpuprov's cache folder; the user's by default.
        progress: where progress goes.

    Raises:
        ValueError: `driver_releases` or `withdraw` name something that is not described.
    """
    cache = cache or default_cache()
    pool, rows = _pool(cache, architecture, progress)
    chosen = _choose(rows, driver_releases, withdraw)
    key = lasting_key(cache / "lab/vendor-key.pgp")
    folder.mkdir(parents=True, exist_ok=True)
    for row in chosen:
        _place(pool / row.file_name, folder / row.file_name)
    _publish_index(folder, chosen, key, architecture=architecture, valid_until=valid_until, signature=signature)
    kept = {row.file_name for row in chosen}
    for path in folder.glob("*.deb"):
        if path.name not in kept:
            path.unlink()
    progress(Progress(phase="vendor repository", text=f"{len(chosen)} packages in {folder}", finished=True))
    return VendorRepository(folder=folder, key=folder / KEY_FILE, fingerprint=key.fingerprint, rows=chosen)


def default_cache() -> Path:
    """Gives gpuprov's cache folder of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "gpuprov"


def stanza(row: VendorRow) -> str:
    """Gives the package's paragraph of the index."""
    before, description = row.control.split("Description:", 1)
    return f"{before}Filename: ./{row.file_name}\nSize: {row.size}\nSHA256: {row.sha256}\nDescription:{description}"


def _pool(cache: Path, architecture: str, progress: Report) -> tuple[Path, tuple[VendorRow, ...]]:
    """Gives the folder with all described packages and their rows; builds it unless these inputs were built before."""
    pool = cache / "lab" / f"vendor-{inputs_digest(architecture)[:16]}"
    listing = pool / "rows.json"
    with _locked(cache / "lab/vendor.lock"):
        if not listing.exists():
            shutil.rmtree(pool, ignore_errors=True)
            pool.mkdir(parents=True)
            packages = described(architecture)
            rows = []
            for number, package in enumerate(packages, start=1):
                rows.append(_build_row(pool, package))
                if number % 64 == 0:
                    text = f"built {package.name} {package.version}"
                    progress(Progress(phase="vendor repository", text=text, done=number, total=len(packages)))
            temporary = listing.with_suffix(".new")
            temporary.write_text(json.dumps([asdict(row) for row in rows]))
            temporary.replace(listing)
        os.utime(listing)
        _forget_old_pools(pool)
    found = json.loads(listing.read_text())
    return pool, tuple(VendorRow(**{**row, "releases": tuple(row["releases"])}) for row in found)


def _forget_old_pools(pool: Path) -> None:
    """Removes the pools of other inputs that nobody used for a while."""
    for listing in pool.parent.glob("vendor-*/rows.json"):
        if listing.parent != pool and time.time() - listing.stat().st_mtime > _POOL_SECONDS:
            shutil.rmtree(listing.parent, ignore_errors=True)


def _build_row(pool: Path, package: Package) -> VendorRow:
    data = build_package(package)
    (pool / package.file_name).write_bytes(data)
    return VendorRow(
        name=package.name,
        version=package.version,
        architecture=package.architecture,
        file_name=package.file_name,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        releases=tuple(sorted(package.releases)),
        control=control_of(package),
    )


def _choose(
    rows: Sequence[VendorRow], driver_releases: Sequence[str] | None, withdraw: Collection[str]
) -> tuple[VendorRow, ...]:
    """Gives the rows to offer: a row goes when all its releases are gone, or when it is named itself."""
    known = {release for row in rows for release in row.releases}
    packages = {f"{row.name}={row.version}" for row in rows}
    gone = set(withdraw)
    if driver_releases is not None:
        wanted = {f"driver/{release}" for release in driver_releases}
        _must_know(wanted, known, "driver_releases")
        gone |= {release for release in known if release.startswith("driver/")} - wanted
    _must_know(set(withdraw), known | packages, "withdraw")
    return tuple(row for row in rows if not set(row.releases) <= gone and f"{row.name}={row.version}" not in gone)


def _must_know(named: set[str], known: set[str], argument: str) -> None:
    unknown = sorted(named - known)
    if unknown:
        releases = ", ".join(sorted(name for name in known if "/" in name))
        raise ValueError(f"{argument}: {', '.join(unknown)}: not described; releases are {releases}")


def _publish_index(
    folder: Path,
    rows: Sequence[VendorRow],
    key: SigningKey,
    *,
    architecture: str,
    valid_until: datetime | None,
    signature: Signature,
) -> None:
    """Writes Packages and its signed Release, the signed files last: a reader never sees an index without its files."""
    packages = "\n".join(stanza(row) for row in rows).encode()
    files = {
        "Packages": packages,
        "Packages.gz": gzip.compress(packages, compresslevel=6, mtime=0),
        "Packages.xz": lzma.compress(packages, preset=1),
    }
    release = _release_text(files, architecture=architecture, valid_until=valid_until)
    signer = make_key() if signature is Signature.OTHER_KEY else key
    signed = {"InRelease": signer.sign_clear(release), "Release.gpg": signer.sign_detached(release)}
    if signature is Signature.TAMPERED:
        signed["InRelease"] = signed["InRelease"].replace(b"Label: NVIDIA CUDA", b"Label: NVIDIA CUDa", 1)
        release = release.replace(b"Label: NVIDIA CUDA", b"Label: NVIDIA CUDa", 1)
    if signature is Signature.MISSING:
        signed = {}
        for name in ("InRelease", "Release.gpg"):
            (folder / name).unlink(missing_ok=True)
    for name, data in {KEY_FILE: key.public.encode(), **files, "Release": release, **signed}.items():
        temporary = folder / f".{name}.new"
        temporary.write_bytes(data)
        temporary.replace(folder / name)


def _release_text(files: dict[str, bytes], *, architecture: str, valid_until: datetime | None) -> bytes:
    lines = [
        "Origin: NVIDIA",
        "Label: NVIDIA CUDA",
        f"Architecture: {_ARCHITECTURES[architecture]}",
        f"Date: {_date(datetime.now(UTC))}",
    ]
    if valid_until is not None:
        lines.append(f"Valid-Until: {_date(valid_until)}")
    for title, algorithm in (("MD5Sum", "md5"), ("SHA1", "sha1"), ("SHA256", "sha256")):
        lines.append(f"{title}:")
        for name, data in files.items():
            digest = hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()
            lines.append(f" {digest} {len(data):>16} {name}")
    return ("\n".join(lines) + "\n").encode()


def _date(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def _place(source: Path, target: Path) -> None:
    """Makes a package appear in the folder: as a second name of the cached file where possible, else as a copy."""
    if (
        target.exists()
        and target.stat().st_size == source.stat().st_size
        and target.read_bytes() == source.read_bytes()
    ):
        return
    temporary = target.with_name(f".{target.name}.new")
    temporary.unlink(missing_ok=True)
    try:
        temporary.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, temporary)
    temporary.replace(target)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds a file lock: two labs may build at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
