import os
from pathlib import Path

import pytest

from gpuprov.lab.vendor.payload import driver_module
from gpuprov.lab.vendor.standin import kernel_module
from gpuprov.lab.vendor.standin.kernel_module import FILLER, kernels, with_kernel


def test_the_module_gets_the_version_magic_of_its_kernel_and_keeps_its_size() -> None:
    packed = driver_module("580.95.05", "open", architecture="amd64")
    made = with_kernel(packed, "6.1.0-38-amd64")
    assert len(made) == len(packed)
    assert b"vermagic=6.1.0-38-amd64 SMP preempt mod_unload modversions \0" in made
    assert FILLER not in made


@pytest.mark.parametrize(("module", "kernel"), [(b"no room", "6.1.0"), (b"vermagic=" + FILLER, "k" * 90)])
def test_without_room_it_fails(module: bytes, kernel: str) -> None:
    with pytest.raises(ValueError, match="no room"):
        with_kernel(module, kernel)


def test_it_installs_for_the_running_kernel_and_those_with_headers(tmp_path: Path) -> None:
    (tmp_path / "6.1.0-40/build").mkdir(parents=True)
    (tmp_path / "6.1.0-41/kernel").mkdir(parents=True)
    assert kernels(tmp_path, running="6.1.0-38") == ["6.1.0-38", "6.1.0-40"]


def test_what_cannot_be_built_is_said_as_dkms_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "src/nvidia-580.95.05"
    source.mkdir(parents=True)
    (source / "nvidia.ko").write_bytes(driver_module("580.95.05", "open", architecture="amd64"))
    monkeypatch.setattr(kernel_module, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(kernel_module, "BUILDS", tmp_path / "dkms")
    monkeypatch.setattr("sys.argv", [str(source / "install-module"), "install"])
    (tmp_path / "modules" / os.uname().release / "updates/dkms/nvidia.ko.new").mkdir(parents=True)
    assert kernel_module.main() == 10
    log = tmp_path / "dkms/580.95.05/build/make.log"
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"Error! Bad return status for module build on kernel: {os.uname().release} (")
    assert second == f"Consult {log} for more information."
    assert "nvidia.ko.new" in log.read_text()
