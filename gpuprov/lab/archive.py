"""The package archive that this machine's own apt uses, for the nodes: no archive's host name is written here."""

import platform
from dataclasses import dataclass

from gpuprov.lab.command import failure, run

CODENAMES = {"debian-12": "bookworm", "debian-13": "trixie"}
"""The Debian release name of each OS id that a node can have."""
_FORMAT = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)"
_SUITES = ("", "-updates", "-security")
_COPIED_OPTIONS = (
    "Acquire::http::Proxy",
    "Acquire::https::Proxy",
    "Acquire::Check-Valid-Until",
    "Acquire::Check-Date",
)
"""The machine's apt options without which a node might not reach, or not accept, the same archive."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """One release of the OS archive as the machine's apt is set up with it."""

    os: str
    codename: str
    suites: tuple[tuple[str, str], ...]
    """Pairs of URI and suite; the release itself first, then updates and security as far as the machine has them."""
    options: tuple[tuple[str, str], ...]
    """apt options that the node needs too."""

    @property
    def main_uri(self) -> str:
        """Where the release itself is."""
        return self.suites[0][0]

    def sources(self) -> str:
        """Return the node's sources file (deb822)."""
        by_uri: dict[str, list[str]] = {}
        for uri, suite in self.suites:
            by_uri.setdefault(uri, []).append(suite)
        return "\n".join(
            f"Types: deb\nURIs: {uri}\nSuites: {' '.join(suites)}\nComponents: main\n"
            "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
            for uri, suites in by_uri.items()
        )

    def configuration(self) -> str:
        """Return the node's apt options."""
        return "".join(f'{name} "{value}";\n' for name, value in self.options)


def read_archive(os: str) -> Archive:
    """Read from the machine's apt where the archive of a node's OS is.

    The machine's own release name is replaced by the node's: one mirror holds all releases of a distribution.

    Raises:
        GpuprovError: the machine is no Debian, its apt knows no archive, or the OS id is not one that a node can have.
    """
    codename = CODENAMES.get(os)
    if codename is None:
        raise failure(f"a node cannot be {os!r}", hint=f"choose one of: {', '.join(CODENAMES)}", address="os")
    release = platform.freedesktop_os_release()
    if release.get("ID") != "debian":
        found = release.get("PRETTY_NAME", "unknown")
        raise failure(f"{os} nodes need a Debian machine, this is {found}", hint="run the lab on Debian 12 or 13")
    rows = run(["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"]).splitlines()
    return Archive(
        os=os,
        codename=codename,
        suites=choose_suites(rows, own=release.get("VERSION_CODENAME", ""), wanted=codename),
        options=parse_options(run(["apt-config", "dump", "--format", "%F|%v%n", "Acquire"]).splitlines()),
    )


def choose_suites(rows: list[str], *, own: str, wanted: str) -> tuple[tuple[str, str], ...]:
    """Pick the rows of the machine's own release and name them for the wanted release.

    Args:
        rows: "URI|suite|component" as apt prints its index targets.
        own: the machine's release name.
        wanted: the node's release name.

    Raises:
        GpuprovError: no row is the machine's own release, component main.
    """
    offered: dict[str, str] = {}
    for row in rows:
        uri, suite, component = row.split("|")
        if component == "main":
            offered.setdefault(suite, uri)
    chosen = tuple((offered[own + ending], wanted + ending) for ending in _SUITES if own + ending in offered)
    if not chosen or chosen[0][1] != wanted:
        raise failure(
            f"this machine's apt has no archive of its own release {own!r} with component main",
            detail="\n".join(rows),
            hint="set up /etc/apt/sources.list, then apt-get update",
        )
    return chosen


def parse_options(lines: list[str]) -> tuple[tuple[str, str], ...]:
    """Pick the options that a node needs from `apt-config dump --format '%F|%v%n'`."""
    values = dict(line.split("|", 1) for line in lines if "|" in line)
    return tuple((name, values[name]) for name in _COPIED_OPTIONS if values.get(name))
