"""A site: the spec in its folder, its lock, and where gpuprov keeps its own files."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gpuprov.app.own_rows import folder_reader
from gpuprov.document.text import SPEC_LIMIT
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.spec.decode import load
from gpuprov.spec.types import PoolSpec, Spec
from gpuprov.store.files import read_text
from gpuprov.store.site import site_folder

if TYPE_CHECKING:
    from gpuprov.lock.types import Lock

LOCK_NAME: Final = "gpuprov.lock"


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """A spec that has been read and found sound, and what lies beside it."""

    path: Path
    text: str
    spec: Spec
    warnings: tuple[Diagnostic, ...]

    @property
    def lock_path(self) -> Path:
        """`gpuprov.lock` beside the spec."""
        return self.path.parent / LOCK_NAME

    @property
    def state(self) -> Path:
        """`.gpuprov/` beside the spec: runs and the site's lock."""
        return site_folder(self.path)

    def pool(self, name: str) -> PoolSpec:
        """A pool of the spec.

        Raises:
            GpuprovError: GP-SPEC-008.
        """
        if name not in self.spec.pools:
            raise GpuprovError(
                Diagnostic(
                    code="GP-SPEC-008",
                    address=f"pools.{name}",
                    summary=f"the spec has no pool `{name}`",
                    detail="pools: " + ", ".join(self.spec.pools),
                )
            )
        return self.spec.pools[name]


def open_site(path: Path) -> Site:
    """Read a spec.

    Raises:
        GpuprovError: all of its errors at once (GP-DOC, GP-SPEC codes).
    """
    text = read_text(path, limit=SPEC_LIMIT)
    spec, diagnostics = load(text, str(path), folder_reader(path))
    errors = tuple(d for d in diagnostics if d.severity is Severity.ERROR)
    if spec is None or errors:
        raise GpuprovError(*(errors or diagnostics))
    return Site(path=path, text=text, spec=spec, warnings=tuple(diagnostics))


def open_lock(site: Site) -> "tuple[Lock, str]":
    """Read the site's lock and its text.

    Raises:
        GpuprovError: GP-LOCK-005 when there is none; GP-DOC codes when it is broken.
    """
    from gpuprov.lock.text import read_lock  # noqa: PLC0415 - `validate` needs no lock, and is not to wait for it

    if not site.lock_path.exists():
        raise GpuprovError(
            Diagnostic(
                code="GP-LOCK-005",
                address=str(site.lock_path),
                summary="there is no lock yet",
                hint=f"run `gpuprov lock -f {site.path}`: it resolves the spec to exact packages",
            )
        )
    text = read_text(site.lock_path)
    return read_lock(text, str(site.lock_path)), text


def today() -> str:
    """Today's date in UTC, as ISO text; rules and waivers take it as a value."""
    return time.strftime("%Y-%m-%d", time.gmtime())
