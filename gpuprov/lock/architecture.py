"""The architecture that a pool's packages are locked for: its instance type's, its GPU's own CPU's, or amd64."""

from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import gpu, instance
from gpuprov.spec.types import PoolSpec, Spec

USUAL: Final = "amd64"
"""Of hosts of which the catalog says nothing else."""


def pool_architecture(spec: Spec, pool: PoolSpec) -> str:
    """`amd64` or `arm64`; a host of another one is refused before anything is done there."""
    row = instance(pool.cloud.instance, spec.catalog) if pool.cloud is not None else None
    if row is not None:
        return row.arch
    model = gpu(pool.gpu.model, spec.catalog) if pool.gpu is not None else None
    return model.cpu if model is not None and model.cpu else USUAL


def builder_architectures(spec: Spec) -> Iterator[str]:
    """The architectures that images are built for: those of the pools in the cloud, where images are built at all."""
    if spec.cloud is None:
        return
    of_pools = {pool_architecture(spec, pool) for pool in spec.pools.values() if pool.cloud is not None}
    row = instance(spec.cloud.image.builder, spec.catalog)
    own = {row.arch} if row is not None else {USUAL}
    yield from sorted(of_pools or own if spec.cloud.image.bake else own)
