import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings, strategies

from gpuprov.lab import handout
from gpuprov.lab.description import LabDescription
from gpuprov.lab.record import description_of
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.decode import load


@pytest.fixture
def lab() -> LabDescription:
    return draw(11)


def keys_of(lab: LabDescription) -> dict[str, tuple[str, str]]:
    return {node.name: ("private", f"ssh-ed25519 KEY{place} root@x\n") for place, node in enumerate(lab.nodes)}


def test_known_hosts_has_each_nodes_key_under_name_and_address(lab: LabDescription, tmp_path: Path) -> None:
    handout.write_files(lab, tmp_path, keys_of(lab))
    lines = (tmp_path / "known_hosts").read_text().splitlines()
    assert lines == [f"{n.name},{n.address} ssh-ed25519 KEY{i}" for i, n in enumerate(lab.nodes)]


def test_the_inventory_has_every_node_in_its_group(lab: LabDescription, tmp_path: Path) -> None:
    handout.write_files(lab, tmp_path, keys_of(lab))
    site = yaml.safe_load((tmp_path / "inventory/site.yml").read_text())["all"]
    groups = site["children"]
    assert {(g, h) for g, members in groups.items() for h in members["hosts"]} == {(n.group, n.name) for n in lab.nodes}
    first = groups[lab.nodes[0].group]["hosts"][lab.nodes[0].name]
    assert first == {"ansible_host": lab.nodes[0].address, "ansible_user": lab.nodes[0].user}
    assert site["vars"]["ansible_ssh_private_key_file"] == str(tmp_path / "id_ed25519")
    assert site["vars"]["ansible_ssh_common_args"] == f"-o UserKnownHostsFile={tmp_path / 'known_hosts'}"


def test_the_ssh_configuration_is_strict(lab: LabDescription, tmp_path: Path) -> None:
    text = handout.ssh_config(lab, tmp_path)
    assert text.count("HostName ") == len(lab.nodes)
    for line in ("StrictHostKeyChecking yes", "IdentityAgent none", "BatchMode yes", "GlobalKnownHostsFile /dev/null"):
        assert f"  {line}\n" in text


@pytest.mark.parametrize("seed", range(8))
def test_the_spec_is_one_that_gpuprov_reads(seed: int) -> None:
    spec, told = load(handout._yaml(handout.spec_document(draw(seed))), "gpuprov.yaml")
    assert told == ()
    assert spec is not None
    assert set(spec.pools) == {"train", "cpu"}


@settings(deadline=None)
@given(strategies.integers(min_value=0, max_value=10**9), strategies.integers(min_value=1, max_value=8))
def test_the_spec_asks_for_what_the_lab_has(seed: int, nodes: int) -> None:
    lab = draw(seed, nodes=nodes)
    spec = handout.spec_document(lab)
    assert set(spec["pools"]) == {node.group for node in lab.nodes}
    gpu = lab.nodes[0].gpu
    assert gpu is not None
    train = spec["pools"]["train"]
    assert train["gpu"] == {"model": gpu.model, "per_host": gpu.count}
    assert train["verify"] == ["nvidia-smi -L"]
    if "cpu" in spec["pools"]:
        assert spec["pools"]["cpu"]["gpu"] == "none"
        assert "verify" not in spec["pools"]["cpu"]
    assert spec["stack"]["driver"]["version"] == f"{lab.driver_branch}.*"
    assert spec["sources"]["nvidia"]["url"] == f"http://{lab.router}:{lab.repository_port}/"


def test_versions_are_quoted_in_the_spec_and_stay_text(lab: LabDescription, tmp_path: Path) -> None:
    handout.write_files(lab, tmp_path, keys_of(lab))
    text = (tmp_path / "gpuprov.yaml").read_text()
    assert f'version: "{lab.driver_branch}.*"' in text
    assert 'cuda: "13.0"' in text
    assert yaml.safe_load(text) == json.loads(json.dumps(handout.spec_document(lab)))


def test_a_changed_spec_is_kept_beside_and_an_equal_one_is_not(lab: LabDescription, tmp_path: Path) -> None:
    handout.write_files(lab, tmp_path, keys_of(lab))
    handout.write_files(lab, tmp_path, keys_of(lab))
    assert not (tmp_path / "gpuprov.yaml~").exists()
    (tmp_path / "gpuprov.yaml").write_text("mine\n")
    handout.write_files(lab, tmp_path, keys_of(lab))
    assert (tmp_path / "gpuprov.yaml~").read_text() == "mine\n"
    assert (tmp_path / "gpuprov.yaml").read_text() != "mine\n"


def test_the_labs_description_can_be_read_back(lab: LabDescription, tmp_path: Path) -> None:
    handout.write_files(lab, tmp_path, keys_of(lab))
    assert description_of(json.loads((tmp_path / "lab.json").read_text())) == lab


def test_keys_are_made_with_the_right_modes_and_removed_again(lab: LabDescription, tmp_path: Path) -> None:
    workshop = tmp_path / "workshop"
    keys = handout.make_keys(lab, tmp_path / "out", workshop)
    assert set(keys) == {node.name for node in lab.nodes}
    assert len({public for _, public in keys.values()}) == len(lab.nodes)
    assert all(private.startswith("-----BEGIN OPENSSH PRIVATE KEY-----") for private, _ in keys.values())
    assert list(workshop.iterdir()) == []
    assert (tmp_path / "out/id_ed25519").stat().st_mode & 0o777 == 0o600
    handout.write_files(lab, tmp_path / "out", keys)
    handout.remove_secrets(tmp_path / "out")
    handout.remove_secrets(tmp_path / "out")
    assert {place.name for place in (tmp_path / "out").iterdir()} == {"inventory", "gpuprov.yaml"}


@pytest.mark.parametrize("name", ["a b", 'a"b', "a%b", "a'b"])
def test_a_folder_that_ssh_cannot_name_is_refused(lab: LabDescription, tmp_path: Path, name: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        handout.check_folder(lab, tmp_path / name)
    assert name in caught.value.diagnostics[0].summary.replace("\\", "")


def test_the_folder_of_another_lab_is_refused_and_the_own_one_is_not(lab: LabDescription, tmp_path: Path) -> None:
    handout.check_folder(lab, tmp_path)
    handout.write_files(lab, tmp_path, keys_of(lab))
    handout.check_folder(lab, tmp_path)
    with pytest.raises(GpuprovError) as caught:
        handout.check_folder(draw(12), tmp_path)
    assert lab.id in caught.value.diagnostics[0].summary
