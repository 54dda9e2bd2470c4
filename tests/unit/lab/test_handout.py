import json
import re
import subprocess
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


@pytest.mark.parametrize("seed", range(8))
def test_the_spec_has_both_targets_and_gpuprov_reads_them(seed: int) -> None:
    lab = draw(seed)
    spec, told = load(handout._yaml(handout.spec_document(lab)), "gpuprov.yaml")
    assert told == ()
    assert spec is not None
    assert spec.cloud is not None
    assert lab.cloud is not None
    assert (spec.cloud.account, spec.cloud.region) == (lab.cloud.account, lab.cloud.region)
    assert spec.cloud.network.cidr == lab.cloud.cidr
    assert spec.cloud.network.ranges["lab"] == (f"{lab.host}/32",)
    assert spec.cloud.login_keys == ("id_ed25519.pub",)
    train = spec.pools["train"].cloud
    assert train is not None
    assert (train.instance, train.names("train")) == (lab.cloud.instance, lab.cloud.hosts)
    assert spec.pools["cpu"].cloud is None
    assert {storage.kind for storage in spec.storage.values()} == {"object", "volume"}


def test_a_lab_without_a_cloud_has_a_spec_without_one(tmp_path: Path) -> None:
    lab = draw(11, nodes=3, cloud=False)
    handout.write_files(lab, tmp_path, keys_of(lab))
    assert not (tmp_path / "aws.env").exists()
    spec, told = load((tmp_path / "gpuprov.yaml").read_text(), "gpuprov.yaml")
    assert told == ()
    assert spec is not None
    assert (spec.cloud, spec.storage) == (None, {})


def test_the_environment_points_the_tools_to_the_lab(lab: LabDescription, tmp_path: Path) -> None:
    handout.write_files(lab, tmp_path, keys_of(lab))
    script = f". {tmp_path / 'aws.env'} && env"
    told = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, env={}).stdout
    values = dict(line.split("=", 1) for line in told.splitlines())
    assert lab.cloud is not None
    assert values["AWS_ENDPOINT_URL"] == f"http://127.0.0.1:{lab.cloud.api_port}"
    assert values["PULUMI_DEBUG_PROVIDERS"] == f"aws:{lab.cloud.plugin_port}"
    assert values["AWS_REGION"] == lab.cloud.region
    assert values["AWS_EC2_METADATA_DISABLED"] == "true"
    assert re.fullmatch(r"AKIA[A-Z0-9]{16}", values["AWS_ACCESS_KEY_ID"])
    assert len(values["AWS_SECRET_ACCESS_KEY"]) == 40


def test_ssh_knows_instances_by_their_addresses(lab: LabDescription, tmp_path: Path) -> None:
    (tmp_path / "ssh_config").write_text(handout.ssh_config(lab, tmp_path))
    assert lab.cloud is not None
    address = str(lab.cloud.public_network[40])
    argv = ["ssh", "-G", "-F", str(tmp_path / "ssh_config"), address]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {
        "user admin",
        f"identityfile {tmp_path / 'id_ed25519'}",
        f"userknownhostsfile {tmp_path / '.gpuprov/cloud/known_hosts'}",
        "stricthostkeychecking true",
    } <= set(told)
