"""NVIDIA's half of the lab on real nodes: packages through apt, simulated GPUs, reboots, containers."""

import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpuprov.lab import lab, seed
from gpuprov.lab.description import LabDescription
from gpuprov.lab.node import Execution, Node
from gpuprov.lab.state import LabState
from gpuprov.model.progress import ignore_progress

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]
SEED = int(os.environ.get("GPUPROV_TEST_LAB_SEED", secrets.randbelow(1_000_000)))
DRIVER = ("nvidia-driver-cuda", "nvidia-kernel-open-dkms", "nvidia-fabricmanager")
SOURCE = "Types: deb\nURIs: {url}\nSuites: ./\nSigned-By: /etc/apt/keyrings/vendor.asc\n"
PIN = "Package: src:nvidia-graphics-drivers\nPin: version {release}-1\nPin-Priority: 1001\n"
LOST = 1
"""The GPU of the faulty node that fell off the bus."""


def description() -> LabDescription:
    """Four nodes: a healthy one, one with Debian 13 for containers, one with a lost GPU, one without GPUs."""
    drawn = seed.draw(SEED, nodes=4, cloud=False)
    gpu = drawn.nodes[0].gpu
    assert gpu is not None
    gpu = replace(gpu, count=max(gpu.count, 2))
    faulty = replace(gpu, faults=(f"gpu-lost:{LOST}",))
    changes: list[dict[str, object]] = [
        {"gpu": gpu},
        {"gpu": gpu, "os": "debian-13"},
        {"gpu": faulty},
        {"gpu": None},
    ]
    nodes = [replace(node, **change) for node, change in zip(drawn.nodes, changes, strict=True)]  # type: ignore[arg-type]
    return replace(drawn, nodes=tuple(nodes))


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabState]:
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nGPUPROV_TEST_LAB_SEED={SEED}")  # noqa: T201
    state = lab.up(description(), tmp_path_factory.mktemp("lab"), ignore_progress)
    yield state
    lab.down(state.id, ignore_progress)


@pytest.fixture
def nodes(made: LabState) -> list[Node]:
    """The four nodes; each test has its own, and each node knows the vendor's repository."""
    found = [lab.node(made.id, node.name) for node in made.description.nodes]
    for node in found:
        key = (made.folder / "keys/vendor.asc").read_text()
        put(node, "/etc/apt/keyrings/vendor.asc", key)
        put(node, "/etc/apt/sources.list.d/vendor.sources", SOURCE.format(url=made.description.repository_url))
    return found


def put(node: Node, path: str, text: str) -> None:
    assert node.exec(["sh", "-c", f"cat >{path}"], stdin=text).status == 0


def run(node: Node, command: str) -> Execution:
    return node.exec(["sh", "-c", command], timeout=300)


def said(node: Node, command: str) -> str:
    """What a command prints; it must succeed."""
    done = run(node, command)
    assert done.status == 0, f"{command}: {done.status}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(node: Node, release: str, *names: str) -> None:
    """Installs the driver in one release, and more packages, as an administrator with a pin would."""
    put(node, "/etc/apt/preferences.d/driver.pref", PIN.format(release=release))
    said(node, "apt-get -qq update")
    options = "-qq -y --no-install-recommends --allow-downgrades"
    said(node, f"DEBIAN_FRONTEND=noninteractive apt-get {options} install {' '.join([*DRIVER, *names])}")
    assert said(node, "dpkg --audit") == ""


def reboot(node: Node) -> None:
    before = node.boot_id()
    run(node, "systemctl reboot")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        leader = node.leader()
        if leader is not None and node.supervisor() is not None:
            try:
                if node.boot_id() not in ("", before):
                    node.wait_ssh()
                    return
            except Exception as error:  # noqa: BLE001 - between two boots there is nothing to enter
                assert any(words in str(error) for words in ("the node is off", "between two boots"))  # noqa: PT017
        time.sleep(0.1)
    pytest.fail("the node did not come back")


def test_a_driver_from_the_first_installation_over_an_upgrade_to_its_removal(made: LabState, nodes: list[Node]) -> None:
    node, gpu = nodes[0], made.description.nodes[0].gpu
    assert gpu is not None
    old, new = made.description.driver_releases[0], made.description.driver_releases[-1]
    devices = [row for row in said(node, "lspci -Dnn -d 10de:").splitlines() if "[0302]" in row]
    assert len(devices) == gpu.count
    assert all(f"[10de:{gpu.pci_device}] (rev a1)" in row for row in devices)
    assert run(node, "test -e /proc/driver/nvidia || test -e /sys/module/nvidia").status == 1

    install(node, old, "cuda-toolkit-13-0", "datacenter-gpu-manager-4-cuda13", "datacenter-gpu-manager-exporter")
    assert said(node, "modinfo -F version nvidia").strip() == old
    assert said(node, "modinfo -F vermagic nvidia").split()[0] == said(node, "uname -r").strip()
    assert run(node, "test -e /sys/module/nvidia").status == 1
    listed = said(node, "nvidia-smi -L").splitlines()
    assert [row.partition(" (UUID: GPU-")[0] for row in listed] == [
        f"GPU {n}: {gpu.nvml_name}" for n in range(gpu.count)
    ]
    assert said(node, "cat /sys/module/nvidia/version").strip() == old
    assert f"NVIDIA UNIX Open Kernel Module for x86_64  {old}  Release Build" in said(
        node, "cat /proc/driver/nvidia/version"
    )
    number = "from ctypes import *; v = c_int(); CDLL('libcuda.so.1').cuDriverGetVersion(byref(v)); print(v.value)"
    assert said(node, f'python3 -c "{number}"') in ("13000\n", "13020\n")
    assert "release 13.0, V13.0.88" in said(node, "/usr/local/cuda/bin/nvcc --version")
    said(node, "systemctl start nvidia-persistenced nvidia-dcgm-exporter && systemctl enable nvidia-fabricmanager")
    fabric = run(node, "systemctl start nvidia-fabricmanager")
    assert (fabric.status == 0) is gpu.nvswitch
    state = "Completed" if gpu.nvswitch else "N/A"
    assert f"State                             : {state}" in said(node, "nvidia-smi -q -i 0 | grep -A2 Fabric")
    metrics = said(node, "curl --silent --retry 10 --retry-connrefused --retry-delay 1 http://127.0.0.1:9400/metrics")
    assert metrics.count("\nDCGM_FI_DEV_GPU_TEMP{") == gpu.count
    assert f'DCGM_FI_DRIVER_VERSION="{old}"' in metrics

    install(node, new)
    assert said(node, "modinfo -F version nvidia").strip() == new
    assert said(node, "cat /sys/module/nvidia/version").strip() == old
    broken = run(node, "nvidia-smi -L")
    assert broken.status == 18
    assert broken.stdout.startswith(
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: "
    )

    reboot(node)
    assert said(node, "cat /sys/module/nvidia/version").strip() == new
    assert said(node, "nvidia-smi -L").splitlines() == listed
    assert said(node, "systemctl is-active nvidia-persistenced") == "active\n"
    assert run(node, "systemctl is-active --quiet nvidia-fabricmanager").status == (0 if gpu.nvswitch else 3)

    install(node, old)
    assert said(node, "modinfo -F version nvidia").strip() == old
    said(node, "apt-get -qq -y purge '~nnvidia' '~nlibnvidia' libcuda1 libcudadebugger1")
    assert run(node, "modinfo nvidia").status == 1
    assert said(node, "cat /sys/module/nvidia/version").strip() == new
    reboot(node)
    assert run(node, "test -e /sys/module/nvidia").status == 1


def test_containers_get_the_gpus_they_ask_for(made: LabState, nodes: list[Node]) -> None:
    node, gpu = nodes[1], made.description.nodes[1].gpu
    assert gpu is not None
    packages = ["nvidia-container-toolkit", "docker.io", "busybox-static"]
    packages += ["docker-cli"] if "docker-cli" in said(node, "apt-cache pkgnames") else []
    install(node, made.description.driver_releases[0], *packages)
    said(node, "nvidia-ctk runtime configure --runtime=docker && systemctl restart docker")
    image = "mkdir -p /srv/image/bin; cp /bin/busybox /srv/image/bin; ln -sf busybox /srv/image/bin/sh; "
    image += "ln -sf busybox /srv/image/bin/cat; ln -sf busybox /srv/image/bin/ls; "
    image += "tar -C /srv/image -c . | docker import - lab"
    said(node, image)
    listed = said(node, "nvidia-smi -L").splitlines()
    whole = said(node, "docker run --rm --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all lab nvidia-smi -L")
    assert whole.splitlines() == listed
    one = said(node, "docker run --rm --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=1 lab sh -c 'nvidia-smi -L; ls /dev'")
    assert one.splitlines()[0] == listed[1]
    assert [name for name in one.split() if name.startswith("nvidia")] == ["nvidia1", "nvidiactl"]
    assert said(node, "docker run --rm --gpus all lab nvidia-smi -L").splitlines() == listed
    assert "nvidia" not in said(node, "docker run --rm lab ls /dev")
    said(node, "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml")
    names = said(node, "nvidia-ctk cdi list").split()
    assert names[-1] == "nvidia.com/gpu=all"
    assert len(names) == 2 * gpu.count + 1


def test_a_lost_gpu_is_on_the_bus_and_out_of_reach(made: LabState, nodes: list[Node]) -> None:
    node, gpu = nodes[2], made.description.nodes[2].gpu
    assert gpu is not None
    install(node, made.description.driver_releases[-1], "datacenter-gpu-manager-exporter")
    assert said(node, "lspci -Dn -d 10de:").count("0302") == gpu.count
    failed = run(node, "nvidia-smi -L")
    assert failed.status == 255
    assert failed.stdout.startswith(f"Unable to determine the device handle for GPU{LOST}: 0000:")
    assert said(node, "nvidia-smi --query-gpu=name --format=csv,noheader -i 0") == f"{gpu.nvml_name}\n"
    said(node, "systemctl start nvidia-dcgm-exporter")
    metrics = said(node, "curl --silent --retry 10 --retry-connrefused --retry-delay 1 http://127.0.0.1:9400/metrics")
    assert metrics.count("\nDCGM_FI_DEV_GPU_TEMP{") == gpu.count - 1


def test_without_gpus_the_stack_can_be_installed_and_nothing_is_loaded(made: LabState, nodes: list[Node]) -> None:
    node = nodes[3]
    assert said(node, "lspci -Dn -d 10de:") == ""
    install(node, made.description.driver_releases[-1])
    assert said(node, "modinfo -F version nvidia").strip() == made.description.driver_releases[-1]
    for command, status, text in [
        ("nvidia-smi", 9, "couldn't communicate with the NVIDIA driver"),
        ("nvidia-modprobe 2>&1", 1, "No such device"),
    ]:
        done = run(node, command)
        assert done.status == status
        assert text in done.stdout
    reboot(node)
    assert run(node, "test -e /sys/module/nvidia").status == 1
