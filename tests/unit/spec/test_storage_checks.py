"""What each kind of storage may say; places of errors in the file are tests of refused.yaml and cloud.yaml."""

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.spec.decode import load

BASE = """
apiVersion: gpuprov/v1
name: site
os: debian-12
pools:
  train: {gpu: none, onprem: {group: train}, cloud: {instance: m7i.large, count: 1}}
  rack: {gpu: none, onprem: {group: rack}}
  cloud: {gpu: none, cloud: {instance: m7i.large, count: 1}}
targets:
  onprem: {inventory: hosts}
  cloud:
    account: "111122223333"
    region: us-east-1
    network: {cidr: 10.20.0.0/16, ranges: {office: [203.0.113.0/24]}, ssh_from: [office]}
storage:
"""
NFS = "server: nfs.example, export: /srv/data"


def found(*storages: str, more: str = "") -> list[tuple[str, str]]:
    text = BASE + "".join(f"  {line}\n" for line in storages) + more
    try:
        _, problems = load(text, "gpuprov.yaml")
    except GpuprovError as error:
        problems = error.diagnostics
    return [(problem.code, problem.address) for problem in problems]


@pytest.mark.parametrize(
    "storages",
    [
        [f"data: {{kind: shared, mount: /data, {NFS}}}"],
        [f"data: {{kind: shared, mount: /data, {NFS}, options: [ro, nconnect=4], pools: [rack]}}"],
        [f"data: {{kind: shared, mount: /data, {NFS}, options: [nfsvers=4.2], pools: [rack]}}"],
        ["data: {kind: shared, mount: /data, service: efs, pools: [cloud]}"],
        ["scratch: {kind: volume, size: 10GiB, mount: /scratch, filesystem: xfs}"],
        ["scratch: {kind: volume, size: 10GiB}"],
        [
            "disk: {kind: local, device: /dev/nvme1n1, mount: /scratch, pools: [rack]}",
            "scratch: {kind: volume, size: 10GiB, mount: /scratch}",
        ],
    ],
)
def test_what_is_right(storages: list[str]) -> None:
    assert found(*storages) == []


@pytest.mark.parametrize(
    ("storages", "problems"),
    [
        (["data: {kind: shared, mount: /data}"], ["004 data.server", "004 data.export"]),
        ([f"data: {{kind: shared, {NFS}}}"], ["004 data.mount"]),
        (["data: {kind: shared, mount: /data, server: a, pools: [train]}"], ["004 data.export"]),
        ([f"data: {{kind: shared, mount: /data, {NFS}, pools: [cloud]}}"], ["005 data.server", "005 data.export"]),
        ([f"data: {{kind: shared, mount: /data, {NFS}, options: [vers=4.2]}}"], ["005 data.options[0]"]),
        ([f"data: {{kind: shared, mount: /data, {NFS}, size: 1TiB}}"], ["005 data.size"]),
        ([f"data: {{kind: shared, mount: /data, {NFS}, write: false}}"], ["005 data.write"]),
        ([f"data: {{kind: shared, mount: /data, {NFS}, device: /dev/sdb}}"], ["005 data.device"]),
        ([f"data: {{kind: shared, mount: /data, {NFS}, filesystem: xfs}}"], ["005 data.filesystem"]),
        ([f"data: {{kind: shared, mount: /usr, {NFS}}}"], ["005 data.mount"]),
        (
            [f"data: {{kind: shared, mount: /data, {NFS}, pools: [trian]}}"],
            ["005 data.server", "005 data.export", "005 data.pools[0]"],
        ),
        (["data: {kind: object, server: a}"], ["005 data.server"]),
        (["data: {kind: object, options: [ro]}"], ["005 data.options"]),
        (["data: {kind: volume, size: 1GiB, filesystem: xfs}"], ["005 data.filesystem"]),
        (["data: {kind: volume, size: 1GiB, mount: /proc/x}"], ["005 data.mount"]),
        (["data: {kind: volume, size: 1GiB, pools: [cloud]}"], ["005 data.pools"]),
        (["a: {kind: volume, size: 1GiB, mount: /s}", "b: {kind: volume, size: 1GiB, mount: /s}"], ["005 b.mount"]),
        (
            [
                "a: {kind: local, device: /dev/nvme1n1, mount: /s, pools: [train]}",
                "b: {kind: volume, size: 1GiB, mount: /s}",
            ],
            ["005 b.mount"],
        ),
    ],
)
def test_what_is_wrong(storages: list[str], problems: list[str]) -> None:
    assert [
        f"{code.removeprefix('GP-SPEC-')} {at.removeprefix('storage.')}" for code, at in found(*storages)
    ] == problems


@pytest.mark.parametrize(
    ("storage", "problems"),
    [
        ("data: {kind: volume, size: 1GiB, mount: /data}", []),
        ("data: {kind: local, device: /dev/nvme1n1, mount: /data}", []),
        ("data: {kind: volume, size: 1GiB}", [("GP-SPEC-005", "access.groups.ml.read[0]")]),
        (f"data: {{kind: shared, mount: /data, {NFS}}}", [("GP-SPEC-006", "access.groups.ml.read[0]")]),
    ],
)
def test_groups_have_rights_on_disks_that_are_mounted(storage: str, problems: list[tuple[str, str]]) -> None:
    assert found(storage, more="access: {groups: {ml: {read: [data]}}}\n") == problems
