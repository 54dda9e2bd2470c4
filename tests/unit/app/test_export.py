"""`export ansible`: a whole folder or none, never over what is not ours."""

from pathlib import Path

import pytest
from host_builders import make_want

from gpuprov.app import export
from gpuprov.app.access import Access
from gpuprov.app.export import Exported, export_ansible
from gpuprov.app.hosts import Fleet
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Become, Connection, Host

SPEC = """\
apiVersion: gpuprov/v1
name: a
os: debian-12
pools:
  train: {gpu: none, onprem: {group: train}}
parity: {waivers: [{facet: 'package["libcuda1"].version', reason: site build, until: "2099-01-01"}]}
"""
HOST = Host(
    name="gpu-1", pool="train", target="onprem",
    connection=Connection(host="gpu-1", address="192.0.2.7", become=Become(password="pass-2")),
)  # fmt: skip


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spec whose fleet is one host that wants much."""
    path = tmp_path / "gpuprov.yaml"
    path.write_text(SPEC)
    fleet = Fleet(hosts=(HOST,), wants={"gpu-1": make_want()}, warnings=())
    monkeypatch.setattr(export, "open_lock", lambda _site: (None, "the lock\n"))
    monkeypatch.setattr(export, "refuse_stale_lock", lambda _site, _lock: None)
    monkeypatch.setattr(export, "open_fleet", lambda *_: fleet)
    return path


def run(spec: Path, folder: Path) -> Exported:
    return export_ansible(spec, Access(), folder)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_folder_stands_alone(spec: Path, tmp_path: Path) -> None:
    exported = run(spec, tmp_path / "out" / "ansible")
    assert exported.hosts == ("gpu-1",)
    found = files(exported.folder)
    beside = {"ansible.cfg", "inventory.yml", "group_vars/all.yml", "host_vars/gpu-1.yml"}
    assert {name for name in found if not name.startswith("playbooks/")} == beside
    assert {"playbooks/site.yml", "playbooks/plugins/modules/gpuprov_packages.py"} <= found
    assert not any("__pycache__" in name for name in found)
    assert (exported.folder / "host_vars" / "gpu-1.yml").stat().st_mode & 0o077 == 0
    assert [path.name for path in exported.folder.parent.iterdir()] == ["ansible"], "nothing is left beside it"


def test_what_is_left_out_is_said(spec: Path, tmp_path: Path) -> None:
    told = run(spec, tmp_path / "out").diagnostics
    assert [(d.code, d.address) for d in told] == [("GP-RUN-012", "gpu-1"), ("GP-RUN-012", "")]
    assert "--ask-become-pass" in told[0].hint
    assert 'package["libcuda1"].version' in told[1].detail
    text = (tmp_path / "out" / "host_vars" / "gpu-1.yml").read_text()
    assert '"name": "libcuda1"' not in text, "a waived package stays as it is on the host"
    assert '"name": "nvidia-driver-cuda"' in text


def test_an_earlier_export_is_replaced_as_a_whole(spec: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    run(spec, folder)
    (folder / "host_vars" / "gone.yml").write_text("old")
    run(spec, folder)
    assert "host_vars/gone.yml" not in files(folder)
    assert not (folder / ".old").exists()


@pytest.mark.parametrize("name", ["notes.txt", "inventory.yml"])
def test_a_folder_of_somebody_else_is_left_alone(spec: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).write_text("all: {}\n")
    with pytest.raises(GpuprovError) as caught:
        run(spec, folder)
    assert caught.value.diagnostics[0].code == "GP-RUN-004"
    assert files(folder) == {name}


def test_where_the_playbooks_cannot_be_copied_the_earlier_export_stays(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    run(spec, folder)
    before = files(folder)
    monkeypatch.setattr(export, "find_playbooks", lambda: tmp_path / "nowhere")
    with pytest.raises(GpuprovError) as caught:
        run(spec, folder)
    assert caught.value.diagnostics[0].code == "GP-DOC-007"
    assert files(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gpuprov.yaml", "out"]
