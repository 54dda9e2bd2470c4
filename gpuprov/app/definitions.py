"""Where a site's packages come from: the spec's sources, the vendor's own from the catalog, and the OS archive."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpuprov.app.site import Site
from gpuprov.catalog.find import repository
from gpuprov.catalog.load import Catalog
from gpuprov.lock.candidates import is_os_name
from gpuprov.lock.pool_input import PoolInput
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.os_source import KEYRINGS, os_sources
from gpuprov.spec.types import SourceSpec
from gpuprov.store.files import read_bytes

_OS: Final = "os"
_FOLDERS: Final = {"amd64": "x86_64", "arm64": "sbsa"}
"""Last part of the path of NVIDIA's repositories (catalog, repositories)."""


def definitions_for(site: Site, os_name: str, pools: Sequence[PoolInput]) -> tuple[SourceDefinition, ...]:
    """The sources that the pools of one operating system are resolved from.

    Args:
        site: the spec, and the folder that its key files are relative to.
        os_name: such as `debian-12`.
        pools: of that operating system, and of one architecture.

    Raises:
        GpuprovError: GP-SRC-006 when a key file cannot be read; GP-SRC-001 when this machine has no archive for the OS;
            GP-CAT-002 when a request names a source that neither the spec nor the catalog has.
    """
    arch = pools[0].arch
    apt = {name: s for name, s in site.spec.sources.items() if s.type == "apt" and s.serves(os_name, arch)}
    own = [_of_spec(name, source, site, os_name) for name, source in apt.items()]
    archive = () if any(map(is_os_name, apt)) else os_sources(os_name)
    asked = {request.source for pool in pools for request in pool.requests if request.source}
    for name in sorted(asked - {_OS} - set(site.spec.sources)):
        raise GpuprovError(_not_named(name, os_name, arch, site.spec.catalog))
    return (*archive, *own)


def _of_spec(name: str, source: SourceSpec, site: Site, os_name: str) -> SourceDefinition:
    key = Path(source.key).expanduser()
    path = key if key.is_absolute() else site.path.parent / key
    return SourceDefinition(
        name=name,
        url=source.url,
        suite=source.suite or "./" if source.flat else source.suite,
        components=() if source.flat else source.components,
        keys=read_bytes(path, code="GP-SRC-006", address=f"sources.{name}.key"),
        # apt takes one Signed-By for one archive: where the spec names the OS's own keyring, the hosts' entries do too.
        keyring=str(path) if str(path) == KEYRINGS.get(os_name.partition("-")[0]) else "",
        on_host=True,
        priority=source.priority,
        excepted_keys=_excepted(os_name, site.spec.catalog),
    )


def _excepted(os_name: str, catalog: Catalog) -> frozenset[str]:
    """The vendor's key for an OS, where it is known to have weak self-signatures and the OS's own apt takes it."""
    row = repository(os_name, catalog=catalog)
    return frozenset({row.fingerprint}) if row is not None and row.weak_key and row.fingerprint else frozenset()


def _not_named(name: str, os_name: str, arch: str, catalog: Catalog) -> Diagnostic:
    row = repository(os_name, name, catalog)
    hint = f"write sources.{name} with url, suite or flat, and key"
    if row is not None and row.url is not None:
        architecture = f"{row.url}{_FOLDERS[arch]}/"
        hint = (
            f'write `sources: {{{name}: {{type: apt, url: "{architecture}", flat: true, key: keys/{row.key_file}}}}}`; '
            f"get the key from {architecture}{row.key_file} and compare its fingerprint with {row.fingerprint}"
        )
    return Diagnostic(
        code="GP-CAT-002",
        address=f"sources.{name}",
        summary=f"the stack takes packages from `{name}`, and the spec does not say where that is",
        detail="gpuprov trusts a vendor's key only when the spec names the key's file",
        hint=hint,
    )
