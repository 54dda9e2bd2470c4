"""Specs to start from: a commented example, and a draft of what a probed host has."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from gpuprov.catalog.find import gpu_by_name, repository, system
from gpuprov.model.address import member_address
from gpuprov.model.fact import Known, Observation, Unknown, Value
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.version import upstream
from gpuprov.spec.example import fill_spec, inventory_text

_EXAMPLE_OS: Final = "debian-12"
_PATH: Final = "x86_64/"
"""The part of NVIDIA's repositories for amd64."""


def example_spec() -> str:
    """A commented spec with every part that this release builds."""
    row = repository(_EXAMPLE_OS)
    return fill_spec(f"{row.url if row else ''}{_PATH}", (row.fingerprint if row else None) or "")


def example_inventory() -> str:
    """A commented Ansible inventory that fits `example_spec`."""
    return inventory_text()


def draft_spec(snapshot: Snapshot) -> str:
    """A commented spec of what a host has, with exact versions.

    What could not be observed is a comment that says why; it is never drafted as absent.

    Args:
        snapshot: of the host.
    """
    seen = _Seen(snapshot)
    pool = _slug(snapshot.host)
    lines = [
        f"# Drafted from {snapshot.host}, as it was seen at {snapshot.taken}. Read it before you use it.",
        "apiVersion: gpuprov/v1",
        f"name: {pool}",
        *_os(seen),
        "",
        *_sources(seen),
        "stack:",
        *_indented(_driver(seen)),
        *_indented(_cuda(seen)),
        *_indented(_container(seen)),
        "  fabric: auto                       # Fabric Manager where the GPU needs it, equal to the driver",
        *_indented(_dcgm(seen)),
        *_indented(_held(seen)),
        "",
        "pools:",
        f"  {pool}:",
        *_indented(_indented(_gpu(seen))),
        f"    onprem: {{group: {pool}}}          # a group of the inventory that holds the host",
        "",
        *_exporters(seen),
        "targets:",
        "  onprem: {inventory: inventory/site.yml}   # write it: `gpuprov init` in another folder shows one",
    ]
    return "\n".join(lines) + "\n"


_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+~:_-]*")


class _Seen:
    """A snapshot, asked for one value at a time."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def observe(self, address: str) -> Observation:
        """What was seen."""
        return self.snapshot.observe(address)

    def text(self, *addresses: str) -> str:
        """The first known word of several addresses; empty when none is known.

        Text that is no plain word is passed over: what a host says must not become YAML.
        """
        values = [found.value for address in addresses if isinstance(found := self.observe(address), Known)]
        return next((value for value in values if isinstance(value, str) and _PLAIN.fullmatch(value)), "")

    def texts(self, address: str) -> tuple[str, ...]:
        """A known list of texts; empty otherwise."""
        found = self.observe(address)
        members = found.value if isinstance(found, Known) and isinstance(found.value, list) else []
        return tuple(member for member in members if isinstance(member, str))

    def package(self, name: str) -> str:
        """The installed version of a package; empty when it is not there or not known."""
        return self.text(member_address("package", name, "version"))

    def unknown(self, key: str, *addresses: str) -> Iterator[str]:
        """A comment for the first address that could not be observed."""
        for address in addresses:
            found = self.observe(address)
            if isinstance(found, Unknown):
                yield f"# {key}: could not be observed on the host ({_one_line(found.reason)})"
                return


def _os(seen: _Seen) -> Iterator[str]:
    name = seen.text("host.os")
    if not name:
        yield from seen.unknown("os", "host.os")
        yield f"os: {_EXAMPLE_OS}    # CHECK: a guess"
        return
    row = system(name)
    yield f"os: {name}" + ("" if row and row.built else "    # this release does not support it")


def _sources(seen: _Seen) -> Iterator[str]:
    row = repository(seen.text("host.os"))
    flat = next(iter(_flat_sources(seen)), None)
    url, key = flat or (f"{row.url}{_PATH}" if row and row.url else "", "")
    if not url:
        return
    yield "# gpuprov trusts a repository only by the key that is named here."
    if key:
        yield f"# The host checks it with {key}: copy that file to keys/nvidia.asc."
    if row and row.fingerprint:
        yield f"# NVIDIA's key for this OS has the fingerprint {row.fingerprint}."
    yield "sources:"
    yield f'  nvidia: {{type: apt, url: "{url}", flat: true, key: keys/nvidia.asc}}'
    yield ""


def _flat_sources(seen: _Seen) -> Iterator[tuple[str, str]]:
    """URL and key of every flat repository on the host that may be NVIDIA's."""
    found = seen.observe("apt.sources")
    for entry in found.value if isinstance(found, Known) and isinstance(found.value, list) else []:
        if not isinstance(entry, dict):
            continue
        urls, suites = _words(entry.get("uris")), _words(entry.get("suites"))
        if urls and suites and suites[0].endswith("/") and re.search(r"nvidia|cuda", json.dumps(entry)):
            keys = _words(entry.get("signed_by"))
            url = urls[0].rstrip("/") + "/" + suites[0].lstrip("/").removeprefix("./")
            if not re.search(r"//[^/]*@", url) and re.fullmatch(r"(https?|file)://[!-~]+", url):
                yield url, keys[0] if keys else ""


def _words(value: Value | None) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(member for member in value if isinstance(member, str)) if isinstance(value, list) else ()


def _driver(seen: _Seen) -> Iterator[str]:
    addresses = ("stack.driver.nvml", "stack.driver.loaded", "stack.driver.on_disk")
    version = seen.text(*addresses)
    if not version:
        yield from seen.unknown("driver", *addresses)
        yield '# driver: {version: "580.*", modules: open, source: nvidia}'
        return
    modules = seen.text("stack.driver.modules")
    source = "nvidia" if seen.package("nvidia-driver-cuda") or not seen.package("nvidia-driver") else "os"
    if modules not in {"open", "proprietary"}:
        yield from seen.unknown("driver.modules", "stack.driver.modules")
        modules = "open"
    if not (seen.package("nvidia-driver-cuda") or seen.package("nvidia-driver")):
        yield "# The driver is there, but no package of it: it was installed in another way. Remove it before `up`."
    on_disk = seen.text("stack.driver.on_disk")
    if on_disk and on_disk != version:
        yield f"# On disk is {on_disk}: the host waits for a reboot."
    yield f'driver: {{version: "{version}", modules: {modules}, source: {source}}}'


def _cuda(seen: _Seen) -> Iterator[str]:
    found = sorted(
        {match[0] for text in seen.texts("stack.cuda.toolkits") if (match := _RELEASE.match(text))}, key=_order
    )
    if len(found) > 1:
        yield f"# The host has the toolkits {', '.join(found)}; a spec wants one."
    if found:
        yield f'cuda: "{found[-1]}"'
    yield from seen.unknown("cuda", "stack.cuda.toolkits")


_RELEASE: Final = re.compile(r"[1-9][0-9]?\.[0-9]{1,2}(?![0-9])")


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _container(seen: _Seen) -> Iterator[str]:
    engine = seen.package("docker.io") or seen.text("stack.container.version")
    toolkit = _upstream(seen.text("stack.container.toolkit") or seen.package("nvidia-container-toolkit"))
    if engine:
        if seen.package("docker-ce"):
            yield "# The host has docker-ce; gpuprov installs docker.io of the OS archive in its place."
        yield "container: {engine: docker" + (f', toolkit: "{toolkit}"' if toolkit else "") + "}"
    else:
        yield from seen.unknown("container", "stack.container.version")


def _dcgm(seen: _Seen) -> Iterator[str]:
    version = _upstream(seen.text("stack.dcgm.version") or seen.package("datacenter-gpu-manager-4-core"))
    if version:
        yield f'dcgm: "{version}"'
    else:
        yield from seen.unknown("dcgm", "stack.dcgm.version")


def _held(seen: _Seen) -> Iterator[str]:
    """Packages that somebody holds: worth a thought, not wanted by themselves."""
    held = sorted(
        match[1]
        for address, fact in seen.snapshot.facts.items()
        if (match := _HELD.fullmatch(address)) and fact.observation == Known(True)
    )
    if held:
        yield f"# Held on the host: {', '.join(held)}"


_HELD: Final = re.compile(r'package\["([a-z0-9][a-z0-9+.-]+)"\]\.held')


def _gpu(seen: _Seen) -> Iterator[str]:
    count = seen.observe("gpu.count")
    number = count.value if isinstance(count, Known) and isinstance(count.value, int) else 0
    names = seen.texts("gpu.models")
    rows = [gpu_by_name(name) for name in names]
    known = [row for row in rows if row is not None]
    if number < 1:
        if isinstance(count, Unknown):
            yield f"# CHECK: GPUs could not be observed on the host ({_one_line(count.reason)})"
        yield "gpu: none"
        return
    if len(known) == 1 and len(names) == 1:
        yield f"gpu: {{model: {known[0].id}, per_host: {number}}}"
        return
    if len(names) > 1:
        yield f"# CHECK: the host has several models: {', '.join(map(_one_line, names))}"
    elif names:
        yield f"# CHECK: the catalog does not know the model {_one_line(names[0])}"
    else:
        yield f"# CHECK: the host has {number} GPUs; their model could not be observed"
    model = known[0].id if known else "MODEL"
    yield f"gpu: {{model: {model}, per_host: {number}}}"


def _exporters(seen: _Seen) -> Iterator[str]:
    found = [name for name in ("node", "dcgm") if seen.observe(f'exporter["{name}"].answers') == Known(True)]
    if found:
        yield f"monitoring: {{exporters: [{', '.join(found)}]}}"
        yield ""


def _indented(lines: "Iterator[str] | Sequence[str]") -> list[str]:
    return [f"  {line}" for line in lines]


def _upstream(text: str) -> str:
    try:
        return upstream(text) if text else ""
    except ValueError:
        return ""


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _slug(host: str) -> str:
    """A host's name as the name of a pool."""
    slug = re.sub(r"[^a-z0-9-]+", "-", host.lower().partition(".")[0]).strip("-")[:60].strip("-")
    return slug if slug and slug not in _CHANGED and not slug.isdecimal() else f"pool-{slug or 'host'}"


_CHANGED: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Names that YAML would not read as text."""
