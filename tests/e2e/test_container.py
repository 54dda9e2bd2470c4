"""Containers and frameworks on real nodes: what engines are told, what is taken back from them, and environments."""

import base64
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

MARK = "/var/lib/gpuprov/initramfs-pending"
DAEMON = "/etc/docker/daemon.json"


def test_a_lost_step_is_made_up_for_and_a_broken_file_of_the_engine_keeps_its_host_untouched(site: LabSite) -> None:
    lost, broken = site.train
    for name in (lost, broken):
        site.root(name, f"touch {MARK}")
    kept = site.root(broken, f"cat {DAEMON}; echo '{{\"data-root\": ' > {DAEMON}")
    started = site.root(lost, "systemctl show -p ActiveEnterTimestampMonotonic docker")
    first = site.up(expect=5)
    assert touched(first)[lost] == "changed"
    assert broken not in touched(first)
    assert "GP-CONV-005" in first.codes
    assert f"{DAEMON} holds no JSON object" in first.stderr
    assert site.root(lost, f"test -e {MARK} || echo gone").strip() == "gone"
    assert site.root(lost, "systemctl show -p ActiveEnterTimestampMonotonic docker") == started
    assert site.root(broken, f"test -e {MARK} && cat {DAEMON}") == '{"data-root": \n'
    encoded = base64.b64encode(kept.encode()).decode()
    site.root(broken, f"echo {encoded} | base64 -d > {DAEMON}")
    assert touched(site.up())[broken] == "changed"
    assert site.drift().status == 0


def wheel(version: str) -> bytes:
    """A wheel of one module (PEP 427)."""
    info = f"lab_frame-{version}.dist-info"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("lab_frame.py", f"VERSION = {version!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: lab-frame\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*archive.namelist(), f"{info}/RECORD")))
    return packed.getvalue()


def offer(site: LabSite, name: str, index: Path, *versions: str) -> None:
    """Offer versions of the framework in an index that controller and node see under one URL."""
    folder = index / "lab-frame"
    folder.mkdir(parents=True, exist_ok=True)
    for version in versions:
        (folder / f"lab_frame-{version}-py3-none-any.whl").write_bytes(wheel(version))
    links = (f'<a href="{path.name}">{path.name}</a>' for path in sorted(folder.glob("*.whl")))
    (folder / "index.html").write_text("\n".join(links), encoding="utf-8")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(index, arcname=str(index).lstrip("/"))
    site.root(name, f"echo {base64.b64encode(packed.getvalue()).decode()} | base64 -d | tar -xz -C /")


CURRENT = "/opt/gpuprov/frameworks/current"


@pytest.mark.matrix
def test_frameworks_and_the_toolkit_come_move_and_go(fresh_lab: Callable[..., LabSite], tmp_path: Path) -> None:
    site = fresh_lab("frames", train=1)
    (name,) = site.train
    index = tmp_path / "index"
    offer(site, name, index, "1.0")
    site.root(name, f'mkdir -p /etc/docker; echo \'{{"data-root": "/srv/docker"}}\' > {DAEMON}')
    site.edit("  nvidia:\n", f'  frames: {{type: python, url: "{index.as_uri()}"}}\n  nvidia:\n')
    site.edit("  packages: []\n", '  packages: []\n  frameworks: {lab-frame: {version: "*", source: frames}}\n')
    everything_comes(site, name)
    another_version_is_another_environment(site, name, index)
    what_left_the_spec_goes_from_the_host(site, name)


def everything_comes(site: LabSite, name: str) -> None:
    site.run("lock")
    assert touched(site.up()) == {name: "changed"}
    assert site.root(name, f"{CURRENT}/bin/python -c 'import lab_frame; print(lab_frame.VERSION)'").strip() == "1.0"
    daemon = json.loads(site.root(name, f"cat {DAEMON}"))
    assert (daemon["data-root"], list(daemon["runtimes"])) == ("/srv/docker", ["nvidia"])
    listed = site.root(name, "nvidia-ctk cdi list 2>/dev/null; ls /dev/char | grep -c ^195:")
    assert "nvidia.com/gpu=all" in listed
    assert int(listed.split()[-1]) >= 1
    assert touched(site.up()) == {name: "satisfied"}
    assert site.drift().status == 0


def another_version_is_another_environment(site: LabSite, name: str, index: Path) -> None:
    before = site.root(name, f"readlink {CURRENT}").strip()
    offer(site, name, index, "1.1")
    site.run("lock", "--upgrade", "lab-frame")
    plan = site.run("preview", "--target", "onprem").stdout
    assert "+lab-frame 1.1" in plan
    site.up()
    assert site.root(name, f"{CURRENT}/bin/python -c 'import lab_frame; print(lab_frame.VERSION)'").strip() == "1.1"
    assert before in site.root(name, "ls /opt/gpuprov/frameworks")
    assert site.drift().status == 0


def what_left_the_spec_goes_from_the_host(site: LabSite, name: str) -> None:
    site.edit('  frameworks: {lab-frame: {version: "*", source: frames}}\n', "")
    site.edit('    toolkit: "1.18.*"\n', "")
    site.run("lock")
    started = site.root(name, "systemctl show -p ActiveEnterTimestampMonotonic docker")
    site.up()
    assert json.loads(site.root(name, f"cat {DAEMON}")) == {"data-root": "/srv/docker"}
    assert site.root(name, "systemctl show -p ActiveEnterTimestampMonotonic docker") == started
    left = "ls -d /opt/gpuprov /etc/systemd/system/gpuprov-cdi.service /run/cdi/nvidia.yaml 2>/dev/null || true"
    assert site.root(name, left) == ""
    assert "gpuprov-cdi" not in site.root(
        name, "find /etc/systemd/system -name 'gpuprov-cdi*'; systemctl list-units -a"
    )
    assert site.drift().status == 0


REGISTRIES = """version = 2
[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
"""
DUMP = "containerd config dump"


@pytest.mark.matrix
def test_containerd_has_the_runtime_beside_what_others_import(fresh_lab: Callable[..., LabSite]) -> None:
    """A18 (3): the registries and the runtime are both in what the real containerd reads."""
    site = fresh_lab("crieng", train=0, cpu=1)
    (name,) = site.names
    site.edit("engine: docker", "engine: containerd")
    folder = "/etc/containerd/config.d"
    root = f'version = 2\\nimports = ["{folder}/*.toml"]\\n'
    encoded = base64.b64encode(REGISTRIES.encode()).decode()
    site.root(
        name,
        f"mkdir -p {folder}; printf '{root}' > /etc/containerd/config.toml;"
        f" echo {encoded} | base64 -d > {folder}/registries.toml",
    )
    site.run("lock")
    assert touched(site.up()) == {name: "changed"}
    dump = site.root(name, DUMP)
    assert [
        words for words in ("runtimes.nvidia]", "/usr/bin/nvidia-container-runtime", "certs.d") if words not in dump
    ] == []
    assert site.root(name, "systemctl is-active containerd; command -v docker || true").split() == ["active"]
    assert touched(site.up()) == {name: "satisfied"}
    assert site.drift().status == 0
    site.root(name, "sed -i 's/^imports/disabled_plugins = [\"cri\"]\\nimports/' /etc/containerd/config.toml")
    off = site.run("preview", "--target", "onprem", expect=None).stdout
    assert "stack.containerd.cri" in off
    site.root(name, "sed -i '/^disabled_plugins/d' /etc/containerd/config.toml")
    site.edit('    toolkit: "1.18.*"\n', "")
    site.run("lock")
    site.up()
    dump = site.root(name, DUMP)
    assert "runtimes.nvidia" not in dump
    assert "certs.d" in dump
    assert site.root(name, f"cat {folder}/registries.toml") == REGISTRIES
