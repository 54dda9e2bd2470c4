from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import making
from gpuprov.lab.description import CloudDescription
from gpuprov.lab.record import LabRecord
from gpuprov.lab.seed import draw, move, move_cloud
from gpuprov.model.diagnostic import GpuprovError


def test_a_range_in_use_is_left_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw(1)
    used = {drawn.network, move(drawn, 1).network}
    monkeypatch.setattr(making.network, "used_by", lambda subnet: "vpn0" if subnet in used else None)
    assert making._free_range(drawn) == move(drawn, 2)
    used.clear()
    assert making._free_range(drawn) == drawn


def test_a_machine_that_uses_every_range_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making.network, "used_by", lambda _: "vpn0 (0.0.0.0/0)")
    with pytest.raises(GpuprovError) as caught:
        making._free_range(draw(1))
    assert "vpn0" in caught.value.diagnostics[0].detail


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, set[object]]:
    """What the machine uses: ranges, ports."""
    used: dict[str, set[object]] = {"ranges": set(), "ports": set()}
    monkeypatch.setattr(making, "ROOT", tmp_path)
    monkeypatch.setattr(making.network, "used_by", lambda r: "vpn0" if str(r) in used["ranges"] else None)
    monkeypatch.setattr(making.services, "free_port", lambda port: port not in used["ports"])
    return used


def cloud(seed: int = 1, attempt: int = 0) -> CloudDescription:
    lab = move_cloud(draw(seed), attempt) if attempt else draw(seed)
    assert lab.cloud is not None
    return lab.cloud


@pytest.mark.parametrize("what", ["cidr", "public_range", "api_port", "plugin_port"])
def test_a_cloud_goes_where_the_machine_has_room(machine: dict[str, set[object]], what: str) -> None:
    assert making._free_cloud(draw(1)) == draw(1)
    for used in (cloud(), cloud(attempt=1)):
        machine["ports" if what.endswith("port") else "ranges"].add(getattr(used, what))
    assert making._free_cloud(draw(1)) == move_cloud(draw(1), 2)
    assert making._free_cloud(draw(1, cloud=False)) == draw(1, cloud=False)


def test_a_port_of_a_lab_that_is_being_made_is_taken(
    machine: dict[str, set[object]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("other", draw(1).id, ".hidden"):
        (tmp_path / name).mkdir()
    elsewhere = replace(draw(2), cloud=replace(cloud(2), plugin_port=cloud().api_port))
    record = LabRecord(phase="making", folder=tmp_path, description=elsewhere)
    monkeypatch.setattr(making, "read_record", {"other": record}.get)
    assert making._free_cloud(draw(1)) == move_cloud(draw(1), 1)


def test_a_rack_that_moved_onto_its_clouds_range_moves_the_cloud(machine: dict[str, set[object]]) -> None:
    lab = draw(1)
    subnet = cloud().cidr.split("/")[0] + "/24"
    assert making._free_cloud(replace(lab, subnet=subnet)).cloud == cloud(attempt=1)


def test_a_machine_without_room_for_a_cloud_is_told_what_is_in_the_way(
    machine: dict[str, set[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making.network, "used_by", lambda _: "vpn0 (0.0.0.0/0)")
    with pytest.raises(GpuprovError) as caught:
        making._free_cloud(draw(1))
    assert "vpn0" in caught.value.diagnostics[0].detail
