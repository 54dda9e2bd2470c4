"""The rules: those that are asked once for a pool, and those that are asked for each driver branch."""

from collections.abc import Callable, Iterator
from typing import Final

from gpuprov.rules.answer import Answer
from gpuprov.rules.container import toolkit_fits_engine
from gpuprov.rules.cuda import cuda_builds_for_gpu, cuda_needs_driver
from gpuprov.rules.dcgm import dcgm_fits, dcgm_has_cuda
from gpuprov.rules.equal import companions_equal
from gpuprov.rules.fabric import fabric_manager
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.forward import compat_packages
from gpuprov.rules.framework import frameworks_fit
from gpuprov.rules.gpu import branch_supports_gpu, modules_fit
from gpuprov.rules.mig import mig_fits
from gpuprov.rules.repository import repository_fits
from gpuprov.rules.system import compiler_fits, gpu_fits_host, kernel_builds, system_named

BY_POOL: Final[tuple[Callable[[PoolFacts], Iterator[Answer]], ...]] = (
    fabric_manager,
    gpu_fits_host,
    repository_fits,
    toolkit_fits_engine,
    cuda_builds_for_gpu,
    compiler_fits,
    companions_equal,
)
"""Asked once for a pool, whatever the driver."""

BY_BRANCH: Final[tuple[Callable[[PoolFacts, int], Iterator[Answer]], ...]] = (
    cuda_needs_driver,
    branch_supports_gpu,
    modules_fit,
    dcgm_fits,
    dcgm_has_cuda,
    compat_packages,
    frameworks_fit,
    mig_fits,
    system_named,
    kernel_builds,
)
"""Asked for every driver branch that is possible."""
