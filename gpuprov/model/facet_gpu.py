"""Facets of GPUs, driver, CUDA, containers and their tools."""

from typing import Final

from gpuprov.model.facet import Cost, Facet, ParityClass, facet_row

_M, _C, _I = ParityClass.MUST_EQUAL, ParityClass.MUST_BE_COMPATIBLE, ParityClass.INFORMATIONAL

ROWS: Final[tuple[Facet, ...]] = (
    facet_row(
        "gpu.count", "pools.*.gpu.per_host", "pci", "equal", _M, Cost.OBSERVED, "a job that asks for 8 GPUs fails on 7"
    ),
    facet_row(
        "gpu.devices", "", "pci", "set", _M, Cost.OBSERVED, "PCI ids: the GPUs themselves, also without a driver"
    ),
    facet_row(
        "gpu.models", "pools.*.gpu.model", "smi", "set", _M, Cost.OBSERVED, "kernels are built for one architecture"
    ),
    facet_row(
        "stack.driver.on_disk", "lock", "module", "upstream", _M, Cost.REBOOT, "the module that the next boot loads"
    ),
    facet_row("stack.driver.loaded", "lock", "loaded", "upstream", _M, Cost.REBOOT, "the module that jobs use now"),
    facet_row("stack.driver.nvml", "lock", "smi", "upstream", _M, Cost.REBOOT, "what CUDA programs see"),
    facet_row(
        "stack.driver.modules",
        "stack.driver.modules",
        "loaded",
        "equal",
        _M,
        Cost.REBOOT,
        "open and proprietary modules support different GPUs",
    ),
    facet_row("stack.driver.kernels", "", "module", "equal", _I, Cost.OBSERVED, "kernels that have a driver module"),
    facet_row(
        "stack.cuda.toolkits",
        "",
        "cuda",
        "set",
        _C,
        Cost.OBSERVED,
        "what is built with one host's toolkit must run on the other",
        rule="cuda-runs",
    ),
    facet_row("stack.container.version", "", "docker", "equal", _I, Cost.OBSERVED, "the engine that runs containers"),
    facet_row(
        "stack.container.runtimes",
        "stack.container",
        "runtimes",
        "set",
        _M,
        Cost.RESTART,
        "containers reach GPUs through it",
    ),
    facet_row(
        "stack.container.toolkit", "", "toolkit", "upstream", _M, Cost.OBSERVED, "what gives a container its GPUs"
    ),
    facet_row(
        "stack.fabric.version",
        "",
        "fabric",
        "upstream",
        _M,
        Cost.OBSERVED,
        "not equal to the driver, CUDA fails with error 802",
    ),
    facet_row("stack.dcgm.version", "", "dcgm", "upstream", _M, Cost.OBSERVED, "metrics depend on it"),
)
