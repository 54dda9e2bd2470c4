"""Lock to text and back: one row a line, in an order that does not depend on how the lock was made."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from gpuprov.document.envelope import document_digest, read_envelope, seal
from gpuprov.document.shape import Fields
from gpuprov.lock.frameworks_text import frameworks_body, read_frameworks
from gpuprov.lock.pool_input import Request
from gpuprov.lock.types import Lock, LockedImage, LockedPool, LockedSource
from gpuprov.model.package import Bound, PackageRow
from gpuprov.model.version import Constraint, check_version

KIND: Final = "Lock"


def lock_digest(lock: Lock) -> str:
    """The digest of a lock's content."""
    return document_digest(KIND, _body(lock))


def write_lock(lock: Lock) -> str:
    """Write a lock as sealed JSON text."""
    return seal(KIND, _body(lock))


def read_lock(text: str, file: str) -> Lock:
    """Read a lock.

    Raises:
        GpuprovError: GP-DOC-002 to 008, such as a lock that somebody edited by hand (GP-DOC-006).
    """
    envelope = read_envelope(text, file, KIND)
    body = Fields(envelope.body, file)
    return Lock(
        spec_inputs=body.text("spec_inputs"),
        catalog_inputs=_read_catalog(body.fields("catalog_inputs")),
        sources=tuple(_read_source(row) for row in body.rows("sources")),
        pools={name: _read_pool(name, fields) for name, fields in body.table("pools").items()},
        images=tuple(_read_image(row) for row in body.rows("images")) if body.has("images") else (),
        digest=envelope.digest,
    )


def read_edited(text: str, file: str) -> tuple[Lock, str]:
    """Read a lock of which `read_lock` says that its digest does not fit (GP-DOC-006).

    Returns:
        The lock with the digest of its present content, and the digest that is written in it.
    """
    document = json.loads(text)
    return read_lock(seal(KIND, document["body"]), file), str(document["digest"])


def _body(lock: Lock) -> dict[str, Any]:
    return {
        "spec_inputs": lock.spec_inputs,
        "catalog_inputs": dict(sorted(lock.catalog_inputs.items())),
        "sources": [_source(source) for source in sorted(lock.sources, key=lambda s: s.name)],
        "pools": {name: _pool(lock.pools[name]) for name in sorted(lock.pools)},
        # Not written where there is none: a lock without a cloud target keeps its digest.
        **({"images": [_image(image) for image in sorted(lock.images)]} if lock.images else {}),
    }


def _read_catalog(rows: Fields) -> dict[str, str]:
    return {name: rows.text(name) for name in rows.value}


def _read_image(row: Fields) -> LockedImage:
    return LockedImage(
        os=row.text("os"),
        arch=row.text("arch"),
        region=row.text("region"),
        owner=row.text("owner"),
        name=row.text("name"),
        id=row.text("id"),
        origin=row.text("origin") if row.has("origin") else "",
    )


def _image(image: LockedImage) -> dict[str, str]:
    # Locks of before there were other images than the vendors' keep their digest.
    return {key: value for key, value in asdict(image).items() if value or key != "origin"}


def _source(source: LockedSource) -> dict[str, Any]:
    return {
        "name": source.name,
        "url": source.url,
        "suite": source.suite,
        "components": list(source.components),
        "fingerprints": list(source.fingerprints),
        "on_host": source.on_host,
        "key_text": source.key_text,
        **({"keyring": source.keyring} if source.keyring else {}),
        **({} if source.priority is None else {"priority": source.priority, "selector": source.selector}),
    }


def _read_source(row: Fields) -> LockedSource:
    return LockedSource(
        name=row.text("name"),
        url=row.text("url"),
        suite=row.text("suite"),
        components=row.texts("components"),
        fingerprints=row.texts("fingerprints"),
        on_host=row.flag("on_host"),
        key_text=row.text("key_text"),
        keyring=row.text("keyring") if row.has("keyring") else "",
        priority=row.integer("priority") if row.has("priority") else None,
        selector=row.text("selector") if row.has("priority") else "",
    )


def _pool(pool: LockedPool) -> dict[str, Any]:
    return {
        "os": pool.os,
        "arch": pool.arch,
        "driver": pool.driver,
        **({"kernel": pool.kernel} if pool.kernel else {}),
        "requests": [
            {"name": r.name, "constraint": r.constraint, "source": r.source, "address": r.address}
            for r in sorted(pool.requests)
        ],
        "packages": [_row(row) for row in sorted(pool.packages)],
        "bounds": [
            {"name": b.name, "relation": b.relation, "version": b.version, "needed_by": b.needed_by}
            for b in sorted(pool.bounds)
        ],
        **({"frameworks": frameworks_body(pool.frameworks)} if pool.frameworks is not None else {}),
    }


def _row(row: PackageRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "version": row.version,
        "arch": row.arch,
        "source": row.source,
        "sha256": row.sha256,
        "size": row.size,
        "installed_size": row.installed_size,
        "filename": row.filename,
    }


def _read_pool(name: str, fields: Fields) -> LockedPool:
    return LockedPool(
        pool=name,
        os=fields.text("os"),
        arch=fields.text("arch"),
        driver=fields.text("driver"),
        requests=tuple(
            Request(
                name=row.text("name"),
                constraint=_sound(row, "constraint", Constraint.parse),
                source=row.text("source"),
                address=row.text("address"),
            )
            for row in fields.rows("requests")
        ),
        packages=tuple(_read_row(row) for row in fields.rows("packages")),
        bounds=tuple(
            Bound(
                name=row.text("name"),
                relation=row.text("relation"),
                version=row.text("version"),
                needed_by=row.text("needed_by"),
            )
            for row in fields.rows("bounds")
        ),
        frameworks=read_frameworks(fields.fields("frameworks")) if fields.has("frameworks") else None,
        kernel=fields.text("kernel") if fields.has("kernel") else "",
    )


def _sound(row: Fields, key: str, read: Callable[[str], object]) -> str:
    """A text that means something: what cannot be read is refused here, not where it is used."""
    text = row.text(key)
    try:
        read(text)
    except ValueError as error:
        row.refuse(key, str(error))
    return text


def _read_row(row: Fields) -> PackageRow:
    return PackageRow(
        name=row.text("name"),
        version=_sound(row, "version", check_version),
        arch=row.text("arch"),
        source=row.text("source"),
        sha256=row.text("sha256"),
        size=row.integer("size"),
        installed_size=row.integer("installed_size"),
        filename=row.text("filename"),
    )
