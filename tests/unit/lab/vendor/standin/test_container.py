import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuprov.lab.vendor.standin import container_ctk
from gpuprov.lab.vendor.standin.container_edits import chosen, edit_config, write_script
from gpuprov.lab.vendor.standin.container_runtime import bundle_of, environment_of
from gpuprov.lab.vendor.standin.nvml import Nvml


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("all", [0, 1]), ("1", [1]), ("0,1", [0, 1]), ("", []), ("void", []), ("none", []), ("7", [])],
)
def test_which_gpus_a_container_gets(wanted: str, expected: list[int], nvml: Nvml) -> None:
    assert [gpu.index for gpu in chosen(nvml, wanted)] == expected
    assert [gpu.index for gpu in chosen(nvml, nvml.gpus[1].uuid)] == [1]


def test_the_bundle_gets_devices_rules_and_the_program(nvml: Nvml) -> None:
    config: dict[str, Any] = {"linux": {"devices": [{"path": "/dev/null"}]}, "mounts": [{"destination": "/proc"}]}
    edit_config(config, [nvml.gpus[1]], Path("/script"))
    assert [device["path"] for device in config["linux"]["devices"]] == ["/dev/null", "/dev/nvidia1", "/dev/nvidiactl"]
    assert [rule["minor"] for rule in config["linux"]["resources"]["devices"]] == [1, 255]
    assert config["mounts"][-1]["destination"] == "/usr/bin/nvidia-smi"


def test_any_shell_can_run_the_program_of_a_container(tmp_path: Path, nvml: Nvml, kit: Any) -> None:
    script = write_script(kit, nvml, [nvml.gpus[1]], tmp_path / "nvidia-smi")
    done = subprocess.run(["sh", script, "-L"], capture_output=True, text=True, check=True)
    assert done.stdout == f"GPU 1: NVIDIA H100 80GB HBM3 (UUID: {nvml.gpus[0].uuid})\n"
    assert "NVIDIA-SMI 580.95.05" in subprocess.run(["sh", script], capture_output=True, text=True, check=True).stdout
    assert subprocess.run(["sh", script, "--what"], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["create", "--bundle", "/b", "id"], "/b"),
        (["--root", "/r", "create", "-b", "/b", "id"], "/b"),
        (["create", "--bundle=/b"], "/b"),
        (["create"], "."),
    ],
)
def test_where_the_bundle_is(arguments: list[str], expected: str) -> None:
    assert bundle_of(arguments) == Path(expected)


def test_the_environment_may_hold_equals_signs_and_empty_values() -> None:
    assert environment_of({"process": {"env": ["A=b=c", "D=", "E"]}}) == {"A": "b=c", "D": "", "E": ""}
    assert environment_of({}) == {}


def test_the_docker_runtime_is_added_and_everything_else_kept(tmp_path: Path, kit: Any, capsys: Any) -> None:
    path = tmp_path / "daemon.json"
    before = {"data-root": "/data/d", "runtimes": {"kata": {"path": "/usr/bin/kata"}}, "log-opts": {"max-size": "10m"}}
    path.write_text(json.dumps(before))
    assert container_ctk.configure(kit, ["--runtime=docker", f"--config={path}"]) == 0
    after = json.loads(path.read_text())
    assert after["runtimes"] == {
        "kata": {"path": "/usr/bin/kata"},
        "nvidia": {"args": [], "path": "nvidia-container-runtime"},
    }
    assert {key: after[key] for key in ("data-root", "log-opts")} == {
        key: before[key] for key in ("data-root", "log-opts")
    }
    assert "default-runtime" not in after
    text = path.read_text()
    assert container_ctk.configure(kit, ["--runtime=docker", f"--config={path}"]) == 0
    assert path.read_text() == text
    assert "docker daemon be restarted" in capsys.readouterr().err


def test_an_unknown_engine_is_refused(tmp_path: Path, kit: Any) -> None:
    assert container_ctk.configure(kit, ["--runtime=rkt", f"--config={tmp_path / 'x'}"]) == 1
    assert not (tmp_path / "x").exists()


def test_the_cdi_specification_has_a_device_for_each_index_each_uuid_and_all(nvml: Nvml) -> None:
    found = container_ctk.specification(nvml, "/script", "0.7.0")
    names = [device["name"] for device in found["devices"]]
    assert names == ["0", "1", nvml.gpus[0].uuid, nvml.gpus[1].uuid, "all"]
    assert found["devices"][-1]["containerEdits"] == {
        "deviceNodes": [{"path": "/dev/nvidia0"}, {"path": "/dev/nvidia1"}]
    }
    assert (found["kind"], found["cdiVersion"]) == ("nvidia.com/gpu", "0.7.0")


def test_the_specification_names_the_driver_s_libraries_by_their_version(nvml: Nvml) -> None:
    folder = nvml.root / "usr/lib/x86_64-linux-gnu"
    folder.mkdir(parents=True, exist_ok=True)
    for version in (nvml.library, "570.1.2"):
        (folder / f"libcuda.so.{version}").touch()
    mounts = container_ctk.specification(nvml, "/script", "0.7.0")["containerEdits"]["mounts"]
    found = [mount["hostPath"] for mount in mounts if "libcuda" in mount["hostPath"]]
    assert found == [f"/usr/lib/x86_64-linux-gnu/libcuda.so.{nvml.library}"]


def test_files_that_are_no_devices_get_no_link(tmp_path: Path) -> None:
    (tmp_path / "nvidia0").touch()
    assert container_ctk.link_devices(tmp_path) == 0
    assert not (tmp_path / "char").exists()
