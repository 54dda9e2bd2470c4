"""The lock of one pool, as cases of the rules write it."""

from typing import Any

from gpuprov.lock.types import Lock, LockedPool
from gpuprov.model.package import PackageRow


def lock_of(given: dict[str, Any]) -> Lock:
    """The lock of the pool `train`, from `driver` and `packages` (name: version)."""
    packages = tuple(
        PackageRow(name=name, version=version, arch="amd64", source="nvidia", sha256="0")
        for name, version in given["packages"].items()
    )
    pool = LockedPool(
        pool="train", os="debian-12", arch="amd64", requests=(), packages=packages, bounds=(), driver=given["driver"]
    )
    return Lock(spec_inputs="", catalog_inputs={}, sources=(), pools={"train": pool}, digest="")
