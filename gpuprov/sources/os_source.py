"""The OS archive as this machine's apt is set up with it: no archive's host name is written anywhere in gpuprov.

Third-party sources of the machine are left out; what remains is filtered to the OS release of the spec.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.definition import SourceDefinition

SUITES: Final[Mapping[str, str]] = {
    "debian-12": "bookworm",
    "debian-13": "trixie",
    "ubuntu-22.04": "jammy",
    "ubuntu-24.04": "noble",
}
"""Release name of each OS that the archive can be read for."""

_POCKETS: Final = ("", "-updates", "-security", "-backports")
KEYRINGS: Final[Mapping[str, str]] = {
    "debian": "/usr/share/keyrings/debian-archive-keyring.gpg",
    "ubuntu": "/usr/share/keyrings/ubuntu-archive-keyring.gpg",
}
"""The archive's own keyring of each OS family; apt itself depends on its package (Debian 12, Ubuntu 24.04)."""
_ONE_LINE: Final = re.compile(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<url>\S+)\s+(?P<suite>\S+)(?P<rest>.*)")
_OFF: Final = frozenset({"no", "false", "off", "without", "disable", "0"})
"""apt's words for no."""
_SETTING: Final = re.compile(r'^(\S+) "([^"]*)";$', re.MULTILINE)
_PROXY: Final = re.compile(r"^acquire::(https?)::proxy(?:::(.+))?$")
_ARMOUR: Final = "-----BEGIN PGP"


@dataclass(frozen=True, kw_only=True, slots=True)
class AptEntry:
    """One enabled binary source of the machine: one URL, one suite."""

    file: str
    url: str = field(repr=False)
    suite: str
    components: tuple[str, ...]
    signed_by: str
    """Path of a keyring, an armoured key, or empty."""
    check_valid_until: bool


def os_sources(
    os_name: str, *, root: Path = Path("/"), components: Sequence[str] | None = None
) -> tuple[SourceDefinition, ...]:
    """The archive of one OS as this machine has it, one source per suite, in the order of the machine's files.

    Args:
        os_name: such as `debian-12`.
        root: folder that stands for `/`.
        components: in place of the machine's own, such as `("main", "contrib", "non-free")`.

    Raises:
        GpuprovError: GP-SRC-001 when the machine has no source for this OS, GP-SRC-006 when its key cannot be read.
    """
    codename = SUITES.get(os_name)
    if codename is None:
        raise GpuprovError(_none(os_name, f"this release knows the archives of {', '.join(SUITES)}"))
    suites = {codename + pocket for pocket in _POCKETS}
    settings = _settings(root)
    found: dict[tuple[str, str], SourceDefinition] = {}
    for entry in read_entries(root):
        if entry.suite not in suites or (entry.url.rstrip("/"), entry.suite) in found:
            continue
        # A third-party repository may use the same suite names; it does not carry the archive's own key.
        if entry.signed_by and not _is_archive_key(entry.signed_by, os_name):
            continue
        found[entry.url.rstrip("/"), entry.suite] = SourceDefinition(
            name=f"os/{entry.suite}",
            url=entry.url,
            suite=entry.suite,
            components=tuple(components or entry.components),
            keys=_keys(entry, os_name, root),
            on_host=False,
            check_valid_until=entry.check_valid_until and settings.check_valid_until,
            proxies=settings.for_url(entry.url),
        )
    if not found:
        raise GpuprovError(_none(os_name, f"this machine's apt has no source for {codename}"))
    return tuple(found.values())


def read_entries(root: Path) -> Iterator[AptEntry]:
    """All enabled binary sources of the machine, in apt's order."""
    folder = root / "etc/apt"
    main = folder / "sources.list"
    parts = sorted((folder / "sources.list.d").glob("*")) if (folder / "sources.list.d").is_dir() else []
    for path in [*([main] if main.is_file() else []), *parts]:
        if path.suffix == ".sources":
            yield from _deb822(path)
        elif path.suffix == ".list":
            yield from _one_line(path)


def _one_line(path: Path) -> Iterator[AptEntry]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        found = _ONE_LINE.match(line.partition("#")[0].strip())
        if found is None:
            continue
        options = dict(word.partition("=")[::2] for word in shlex.split(found["options"] or ""))
        yield AptEntry(
            file=str(path),
            url=found["url"],
            suite=found["suite"],
            components=tuple(found["rest"].split()),
            signed_by=options.get("signed-by", ""),
            check_valid_until=options.get("check-valid-until", "yes").lower() not in _OFF,
        )


def _deb822(path: Path) -> Iterator[AptEntry]:
    for block in re.split(r"\n[ \t]*\n", path.read_text(encoding="utf-8", errors="replace")):
        fields = _fields(block)
        if fields.get("enabled", "yes").lower() in _OFF or "deb" not in fields.get("types", "").split():
            continue
        for url in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield AptEntry(
                    file=str(path),
                    url=url,
                    suite=suite,
                    components=tuple(fields.get("components", "").split()),
                    signed_by=fields.get("signed-by", "").strip(),
                    check_valid_until=fields.get("check-valid-until", "yes").lower() not in _OFF,
                )


def _fields(block: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in {" ", "\t"} and name:
            # Inside an embedded key a lone dot stands for an empty line.
            fields[name] += "\n" + ("" if line.strip() == "." else line.strip())
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
    return fields


def _is_archive_key(signed_by: str, os_name: str) -> bool:
    return _ARMOUR in signed_by or f"{os_name.partition('-')[0]}-archive" in signed_by


def _keys(entry: AptEntry, os_name: str, root: Path) -> bytes:
    if _ARMOUR in entry.signed_by:
        return entry.signed_by.encode()
    named = entry.signed_by.split()[0] if entry.signed_by else KEYRINGS[os_name.partition("-")[0]]
    path = root / named.lstrip("/")
    try:
        return path.read_bytes()
    except OSError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-SRC-006",
                address="sources.os",
                summary=f"the archive's keyring {path} cannot be read: {error.strerror}",
                hint=f"Install the archive's keyring package, or correct signed-by in {entry.file}.",
            )
        ) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class AptSettings:
    """What the machine's apt is told beside its sources."""

    check_valid_until: bool = True
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By scheme, or by `scheme::host`."""

    def for_url(self, url: str) -> dict[str, str]:
        """The proxies for one URL; apt's word DIRECT means none."""
        parts = urlsplit(url)
        found = self.proxies.get(f"{parts.scheme}::{parts.hostname}", self.proxies.get(parts.scheme, ""))
        return {parts.scheme: found} if found and found != "DIRECT" else {}


def parse_settings(dump: str) -> AptSettings:
    """Read what `apt-config dump` prints."""
    values = {name.lower(): value for name, value in _SETTING.findall(dump)}
    proxies = {
        scheme + (f"::{host}" if host else ""): value
        for name, value in values.items()
        for scheme, host in _PROXY.findall(name)
        if value
    }
    dates = values.get("acquire::check-valid-until", "yes").lower() not in _OFF
    return AptSettings(check_valid_until=dates, proxies=proxies)


def _settings(root: Path) -> AptSettings:
    if root != Path("/"):
        return AptSettings()
    try:
        done = subprocess.run(
            ["apt-config", "dump", "--empty"], capture_output=True, text=True, check=False, timeout=20
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return AptSettings()  # a machine without apt: as apt's defaults
    return parse_settings(done.stdout)


def _none(os_name: str, what: str) -> Diagnostic:
    return Diagnostic(
        code="GP-SRC-001",
        address="sources.os",
        summary=f"there is no package source for {os_name}: {what}",
        hint="Name the archive in the spec: `sources: {os: {url: ..., suite: ..., components: [main], key: ...}}`.",
    )
