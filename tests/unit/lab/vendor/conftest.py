"""A machine's root as a folder: what the simulated hardware, the kernel and a package would have put there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuprov.lab.description import GpuDescription
from gpuprov.lab.vendor import hardware, payload
from gpuprov.lab.vendor.standin import lab_hardware
from gpuprov.lab.vendor.standin.forms import Kit
from gpuprov.lab.vendor.standin.nvml import Nvml

H100 = GpuDescription(
    model="H100-SXM5-80GB",
    nvml_name="NVIDIA H100 80GB HBM3",
    count=2,
    nvswitch=True,
    pci_device="2330",
    memory_mib=81559,
)
MACHINE_ID = "0123456789abcdef0123456789abcdef"
MakeRoot = Callable[..., Path]


@pytest.fixture
def h100() -> GpuDescription:
    return H100


@pytest.fixture
def kit() -> Kit:
    """Every recorded form, with the values that a package would pack."""
    forms = payload.forms()
    return Kit(
        texts={id_: str(form["text"]) for id_, form in forms.items()},
        statuses={id_: int(str(form.get("status", 0))) for id_, form in forms.items()},
        data={"version": "580.95.05", "cdi": "0.7.0"},
    )


@pytest.fixture
def make_root(tmp_path: Path, kit: Kit) -> MakeRoot:
    """Makes a root: GPUs on the bus, a library on disk, a module loaded; each may be left out."""

    def make(
        gpu: GpuDescription | None = H100,
        *,
        library: str | None = "580.95.05",
        loaded: str | None = "580.95.05",
        flavour: str = "open",
    ) -> Path:
        described = lab_hardware.with_identity(hardware.describe(gpu), MACHINE_ID)
        run = tmp_path / "run/lab-hardware"
        run.mkdir(parents=True)
        (run / "hardware.json").write_text(json.dumps(described))
        if library is not None:
            folder = tmp_path / "usr/lib/x86_64-linux-gnu"
            folder.mkdir(parents=True)
            (folder / f"libnvidia-ml.so.{library}").touch()
            (folder / "libnvidia-ml.so.1").symlink_to(f"libnvidia-ml.so.{library}")
        if loaded is not None:
            state = tmp_path / "state"
            lab_hardware.show_driver(state, kit, described, version=loaded, flavour=flavour)
            (tmp_path / "sys").mkdir()
            (state / "module").rename(tmp_path / "sys/module")
            (tmp_path / "proc").mkdir()
            (state / "proc-driver").rename(tmp_path / "proc/driver")
        return tmp_path

    return make


@pytest.fixture
def nvml(make_root: MakeRoot) -> Nvml:
    return Nvml(make_root())
