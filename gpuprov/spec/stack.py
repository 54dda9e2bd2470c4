"""The part of a spec that says which software the hosts carry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from gpuprov.spec.about import About

HOLD: Final = "hold"
FREE: Final = "free"
"""What `stack.kernel` says where it names no release."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverSpec:
    """The NVIDIA driver."""

    version: Annotated[str, About("Version, or the part of it that is fixed.", check="driver", example='"580.*"')]
    modules: Annotated[str, About("Flavour of the kernel modules.", choices=("open", "proprietary"))] = "open"
    source: Annotated[
        str,
        About(
            "Where the driver comes from: `nvidia`, `os` (the OS archive), or a name from `sources`.",
            check="name",
            example="nvidia",
        ),
    ] = "nvidia"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerSpec:
    """The container engine and NVIDIA's toolkit for it."""

    engine: Annotated[
        str, About("The container engine, from the OS archive.", choices=("docker", "containerd"), later=("podman",))
    ] = "docker"
    toolkit: Annotated[
        str,
        About(
            "Version of NVIDIA's container toolkit; without it the engine gets no GPUs.",
            check="constraint",
            example='"1.18.*"',
        ),
    ] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageSpec:
    """Any other package of the sources."""

    name: Annotated[str, About("Name of the package.", check="package", example="htop")]
    version: Annotated[
        str, About("Version, or the part of it that is fixed; any when left out.", check="constraint", example='"2.*"')
    ] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkSpec:
    """One Python package that the hosts' programs import; what it needs comes along."""

    version: Annotated[
        str,
        About(
            "Version, or the part of it that is fixed; a local part (`+cu130`) names a CUDA variant.",
            check="python",
            example='"2.9.*"',
        ),
    ]
    source: Annotated[
        str,
        About(
            "Where it comes from: `pypi`, or a source of type `python`; what it needs comes from `pypi`.",
            check="name",
            example="pypi",
        ),
    ] = "pypi"


@dataclass(frozen=True, kw_only=True, slots=True)
class StackSpec:
    """The software stack; a part that is left out or null is not wanted."""

    driver: Annotated[
        DriverSpec | None, About("The NVIDIA driver.", example='{version: "580.*", modules: open, source: nvidia}')
    ] = None
    cuda: Annotated[
        str | None, About("Release of the CUDA toolkit, as major.minor.", check="release", example='"13.0"')
    ] = None
    container: Annotated[
        ContainerSpec | None,
        About("The container engine and NVIDIA's toolkit for it.", example='{engine: docker, toolkit: "1.18.*"}'),
    ] = None
    fabric: Annotated[
        str,
        About(
            "Fabric Manager: `auto` installs it, equal to the driver, where the GPU needs it.",
            choices=("auto", "none"),
        ),
    ] = "auto"
    dcgm: Annotated[str | None, About("Version of DCGM.", check="constraint", example='"4.*"')] = None
    packages: Annotated[
        tuple[PackageSpec, ...],
        About(
            "Other packages of the sources, by name or with a version.", example='[htop, {name: jq, version: "1.*"}]'
        ),
    ] = ()
    frameworks: Annotated[
        Mapping[str, FrameworkSpec | None],
        About(
            "Python packages for the hosts' programs by name, with extras where they are wanted; they are installed "
            "into an environment of their own, /opt/gpuprov/frameworks/current.",
            key="requirement",
            example='{torch: "2.9.*"}',
        ),
    ] = field(default_factory=dict)
    kernel: Annotated[
        str,
        About(
            "The kernel: `free` leaves it to the OS; `hold` locks the one that the OS offers when the lock is made, "
            "and only `lock --upgrade kernel` moves it; or the release that hosts shall run.",
            check="kernel",
            example="6.1.0-37-amd64",
        ),
    ] = "free"
