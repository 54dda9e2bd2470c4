"""The Python packages of a pool as the lock writes them, a line for every file; and back."""

from dataclasses import asdict
from typing import Any

from gpuprov.document.shape import Fields
from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest
from gpuprov.lock.types import LockedFramework, LockedFrameworks, LockedWheel


def frameworks_body(frameworks: LockedFrameworks) -> dict[str, Any]:
    """The body of a lock's part."""
    need = frameworks.need
    return {
        "python": need.python,
        "platform": need.platform,
        "indexes": [{"name": name, "url": need.indexes[name]} for name in sorted(need.indexes)],
        "requests": [asdict(request) for request in sorted(need.requests, key=lambda r: r.name)],
        "packages": [
            {
                "name": package.name,
                "version": package.version,
                "source": package.source,
                "wheels": [asdict(wheel) for wheel in sorted(package.wheels, key=lambda w: w.filename)],
            }
            for package in sorted(frameworks.packages, key=lambda p: p.name)
        ],
    }


def read_frameworks(body: Fields) -> LockedFrameworks:
    """Read a lock's part (GP-DOC-008)."""
    return LockedFrameworks(
        need=FrameworkNeed(
            python=body.text("python"),
            platform=body.text("platform"),
            requests=tuple(
                FrameworkRequest(name=row.text("name"), specifier=row.text("specifier"), source=row.text("source"))
                for row in body.rows("requests")
            ),
            indexes={row.text("name"): row.text("url") for row in body.rows("indexes")},
        ),
        packages=tuple(_package(row) for row in body.rows("packages")),
    )


def _package(row: Fields) -> LockedFramework:
    return LockedFramework(
        name=row.text("name"),
        version=row.text("version"),
        source=row.text("source"),
        wheels=tuple(
            LockedWheel(filename=wheel.text("filename"), sha256=wheel.text("sha256"), size=wheel.integer("size"))
            for wheel in row.rows("wheels")
        ),
    )
