"""Lookups: package names to components, constraints to branches, parts of the stack to packages."""

import pytest

from gpuprov.catalog.find import branches_of, component_of, cuda_major, gpu_by_name, never, packages_for, repository


@pytest.mark.parametrize(
    ("component", "packages"),
    [
        (
            "driver",
            """nvidia-driver nvidia-driver-cuda nvidia-driver-570-server libcuda1 libnvidia-ml1 nvidia-kernel-open-dkms
            nvidia-kernel-dkms nvidia-open-kernel-dkms nvidia-dkms-580-open nvidia-utils-580 nvidia-persistenced
            libnvidia-compute-535 libnvcuvid1 nvidia-smi cuda-drivers cuda-drivers-535 firmware-nvidia-gsp
            linux-modules-nvidia-580-server-open-aws libgl1-nvidia-glvnd-glx nvidia-headless-580-server
            libcudadebugger1 nvidia-modprobe nvidia-tesla-470-driver cuda-compat-13-0""",
        ),
        (
            "fabric",
            "nvidia-fabricmanager nvidia-fabricmanager-570 nvidia-fabric-manager libnvidia-nscq-570 libnvsdm nvlsm",
        ),
        ("container-toolkit", "nvidia-container-toolkit nvidia-container-toolkit-base libnvidia-container-tools"),
        ("dcgm", "datacenter-gpu-manager-4-core datacenter-gpu-manager-4-cuda13 datacenter-gpu-manager-exporter"),
        ("cuda", "cuda cuda-toolkit-13-0 cuda-cudart-13-0 cuda-nvcc-12-4 libcublas-13-0 nvidia-cuda-toolkit"),
        ("cudnn", "cudnn9-cuda-13 libcudnn9-cuda-13"),
        ("nccl", "libnccl2 libnccl-dev"),
        ("container-engine", "docker.io docker-ce containerd containerd.io runc docker-buildx-plugin"),
        ("exporters", "prometheus-node-exporter"),
        (None, "bash libc6 nvtop dockerfile-utils libcurl4 nvi linux-image-amd64 prometheus"),
    ],
)
def test_component_of(component: str | None, packages: str) -> None:
    for package in packages.split():
        assert component_of(package) == component, package


@pytest.mark.parametrize(
    ("constraint", "branches"),
    [
        ("580.*", (580,)),
        ("580", (580,)),
        ("=580.95.05", (580,)),
        ("580.95.05-1", (580,)),
        ("645.*", (645,)),
        (">=570,<590", (580, 575, 570)),
        (">=610.50", (620, 615, 610)),
        ("<500", (470,)),
        ("<100", ()),
    ],
)
def test_branches_of(constraint: str, branches: tuple[int, ...]) -> None:
    assert branches_of(constraint) == branches


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("cuda", "stack.cuda"),
        ("cuda-12-4", "stack.cuda"),
        ("cuda-drivers-12-4", "stack.driver"),
        ("cuda-toolkit-12", "stack.cuda"),
        ("cuda-toolkit-12-4", None),
        ("cuda-nvcc-12-4", None),
        ("nvidia-driver-cuda", None),
    ],
)
def test_never(package: str, use: str | None) -> None:
    row = never(package)
    assert (row.use if row else None) == use


@pytest.mark.parametrize(
    ("branch", "modules", "row"),
    [
        (580, "open", "debian-nvidia-open"),
        (620, "open", "debian-nvidia-open"),
        (470, "open", None),
        (614, "proprietary", "debian-nvidia-proprietary"),
        (615, "proprietary", None),
        (None, "open", None),
    ],
)
def test_packages_for(branch: int | None, modules: str, row: str | None) -> None:
    found = packages_for("driver", family="debian", origin="nvidia", branch=branch, modules=modules)
    assert (found.id if found else None) == row


def test_keys_differ_between_debian_releases() -> None:
    keys = [row.fingerprint for os in ("debian-12", "debian-13") if (row := repository(os)) is not None]
    assert len(set(keys)) == 2
    assert repository("debian-11") is None


def test_cuda_major_is_what_the_driver_reports() -> None:
    assert [cuda_major(v) for v in ("575.64.05", "580.95.05-1", "620.70.06", "630.1.1")] == [12, 13, 13, None]


def test_gpu_by_name() -> None:
    row = gpu_by_name("NVIDIA H100 80GB HBM3")
    assert row is not None
    assert row.id == "H100-SXM5-80GB"
    assert gpu_by_name("NVIDIA H100") is None
