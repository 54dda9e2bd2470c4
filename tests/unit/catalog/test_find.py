"""Lookups: package names to components, constraints to branches, parts of the stack to packages."""

from fnmatch import fnmatchcase

import pytest

from gpuprov.catalog.find import (
    branches_of,
    component_of,
    cuda_major,
    gpu_by_name,
    image,
    instance,
    instances_with,
    never,
    packages_for,
    repository,
)


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


@pytest.mark.parametrize(
    ("name", "gpu", "gpus", "arch"),
    [
        ("p5.48xlarge", "H100-SXM5-80GB", 8, "amd64"),
        ("p5.4xlarge", "H100-SXM5-80GB", 1, "amd64"),
        ("p4de.24xlarge", "A100-SXM4-80GB", 8, "amd64"),
        ("g6e.12xlarge", "L40S", 4, "amd64"),
        ("g6f.large", "L4", 0, "amd64"),
        ("g5g.xlarge", None, 1, "arm64"),
        ("c7i.2xlarge", "", 0, "amd64"),
        ("m7i.large", "", 0, "amd64"),
        ("t4g.small", "", 0, "arm64"),
    ],
)
def test_instance(name: str, gpu: str | None, gpus: int, arch: str) -> None:
    row = instance(name)
    assert row is not None
    assert (row.gpu, row.gpus, row.arch) == (gpu, gpus, arch)


def test_an_instance_type_that_is_not_known() -> None:
    assert instance("p5.47xlarge") is None


def test_instances_with_so_many_gpus_smallest_first() -> None:
    assert [row.id for row in instances_with("L4", 4)] == ["g6.12xlarge", "g6.24xlarge"]
    assert instances_with("L4", 3) == ()


def test_a_pattern_of_base_images_leaves_daily_builds_out() -> None:
    row = image("debian-12", "amd64")
    assert row is not None
    assert (row.owner, row.user, row.root_device) == ("136693071363", "admin", "/dev/xvda")
    assert fnmatchcase("debian-12-amd64-20261117-2289", row.name)
    assert not fnmatchcase("debian-12-amd64-daily-20261117-2289", row.name)
    assert not fnmatchcase("debian-12-backports-amd64-20261117-2289", row.name)


@pytest.mark.parametrize(("os", "arch"), [("debian-13", "arm64"), ("ubuntu-24.04", "amd64")])
def test_other_base_images_are_known(os: str, arch: str) -> None:
    assert image(os, arch) is not None


def test_there_is_no_image_of_an_unknown_system() -> None:
    assert image("rhel-9", "amd64") is None
