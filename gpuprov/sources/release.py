"""The Release file of a repository: which index files there are, their digests, and until when it holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_AHEAD: Final = timedelta(days=1)
"""So far may an archive's clock be ahead of this machine's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexFile:
    """One file that a Release names."""

    path: str
    """Relative to the Release."""
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What is used of a Release."""

    origin: str
    label: str
    suite: str
    codename: str
    architectures: tuple[str, ...]
    components: tuple[str, ...]
    date: datetime | None
    valid_until: datetime | None
    by_hash: bool
    """Whether files can also be had under their digest, which an update in mid-fetch cannot break."""
    pin: int
    """The priority that apt gives the repository: 500; 100 or 1 where the Release says `NotAutomatic`."""
    all_apart: bool
    """Whether packages of architecture `all` are listed in a file of their own."""
    files: Mapping[str, IndexFile]

    @property
    def selector(self) -> str:
        """What names the repository in a pin of apt (apt_preferences(5)): `o=NVIDIA,l=NVIDIA CUDA`, or nothing."""
        fields = {"o": self.origin, "l": self.label, "a": self.suite, "n": self.codename}
        return ",".join(f"{key}={value}" for key, value in fields.items() if value and "," not in value)


def parse_release(text: bytes, source: str) -> Release:
    """Read a verified Release.

    Raises:
        GpuprovError: GP-SRC-005 when it has no SHA256 list or a field cannot be read.
    """
    fields = _fields(text.decode("utf-8", "replace"))
    if "sha256" not in fields:
        raise GpuprovError(_broken(source, "it has no SHA256 list; older digests are not accepted"))
    files = {}
    for line in fields["sha256"].split("\n"):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 3 or len(parts[0]) != 64 or not parts[1].isdecimal():  # noqa: PLR2004 - digest, size, path
            raise GpuprovError(_broken(source, f"a line of its SHA256 list is '{line.strip()}'"))
        files[parts[2]] = IndexFile(path=parts[2], size=int(parts[1]), sha256=parts[0].lower())
    return Release(
        origin=fields.get("origin", ""),
        label=fields.get("label", ""),
        suite=fields.get("suite", ""),
        codename=fields.get("codename", ""),
        architectures=tuple(fields.get("architectures", "").split()),
        components=tuple(fields.get("components", "").split()),
        date=_date(fields.get("date", ""), source),
        valid_until=_date(fields.get("valid-until", ""), source),
        by_hash=fields.get("acquire-by-hash", "no").lower() == "yes",
        pin=_pin(fields),
        all_apart="no-support-for-architecture-all" not in fields,
        files=files,
    )


def check_dates(release: Release, source: str, now: datetime) -> None:
    """Refuse a Release whose Valid-Until has passed, or that is of the future (GP-SRC-003).

    Old indexes hide security updates; one of the future says that this machine's clock cannot judge either.
    """
    if release.date is not None and release.date > now + _AHEAD:
        raise GpuprovError(
            Diagnostic(
                code="GP-SRC-003",
                address=f"sources.{source}",
                summary=f"the index of source {source} is of {release.date:%Y-%m-%d %H:%M} UTC, which is yet to come",
                detail=f"This machine's clock says {now:%Y-%m-%d %H:%M} UTC.",
                hint="Set this machine's clock.",
            )
        )
    if release.valid_until is None or release.valid_until >= now:
        return
    raise GpuprovError(
        Diagnostic(
            code="GP-SRC-003",
            address=f"sources.{source}",
            summary=f"the index of source {source} expired on {release.valid_until:%Y-%m-%d %H:%M} UTC",
            detail=f"It was made on {release.date:%Y-%m-%d}." if release.date else "",
            hint="Update the mirror, or use another one; check this machine's clock as well.",
        )
    )


def _fields(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line[:1] in {" ", "\t"}:
            if name:
                fields[name] += "\n" + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def _pin(fields: Mapping[str, str]) -> int:
    if fields.get("notautomatic", "no").lower() != "yes":
        return 500
    return 100 if fields.get("butautomaticupgrades", "no").lower() == "yes" else 1


def _date(text: str, source: str) -> datetime | None:
    if not text:
        return None
    try:
        found = parsedate_to_datetime(text.replace("UTC", "+0000"))
    except ValueError as error:
        raise GpuprovError(_broken(source, f"'{text}' is no date")) from error
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _broken(source: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-005",
        address=f"sources.{source}",
        summary=f"the Release of source {source} cannot be read: {what}",
        hint="Check that the URL and suite name an apt repository.",
    )
