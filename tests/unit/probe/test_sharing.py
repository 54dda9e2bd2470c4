"""Recordings for others: nothing in them names the site, and what the parsers read of them is the same otherwise."""

import base64
import re
from pathlib import Path

import pytest
import yaml

from gpuprov.model.fact import Known
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collectors import BY_NAME
from gpuprov.probe.sharing import NAMING, Sharing
from gpuprov.probe.snapshot import snapshot_of

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "sharing" / "recordings.yaml").read_text(encoding="utf-8")
)


def recording(host: str, outputs: dict[str, str]) -> Recording:
    return Recording(
        host=host,
        os="ubuntu-24.04",
        arch="amd64",
        taken="2026-11-30T10:00:00Z",
        collectors={n: CollectorOutput(command="c", stdout=o, stderr="", status=0) for n, o in outputs.items()},
    )


def outputs(shared: Recording) -> dict[str, str]:
    return {name: output.stdout for name, output in shared.collectors.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_identifies_a_site_gets_a_stand_in_and_nothing_else_changes(case: dict) -> None:
    shared = Sharing().share(recording(case["host"], case["collectors"]))
    assert outputs(shared) == case["expect"]


def test_the_same_thing_has_the_same_stand_in_in_all_recordings_of_one_run() -> None:
    sharing = Sharing()
    mounts = "/proc/self/mounts:filer:/x /data nfs4 rw,addr=10.9.0.7 0 0\ndf \nend\n"
    first = sharing.share(recording("gpu-a", {"name": "gpu-a\n", "mounts": mounts}))
    second = sharing.share(recording("gpu-b", {"name": "gpu-b\n", "mounts": mounts, "root": "gpu-a\n"}))
    assert (first.host, second.host) == ("host-1", "host-2")
    assert outputs(first)["mounts"] == outputs(second)["mounts"]
    assert outputs(second)["name"] == "host-2\n"


def test_a_host_that_is_called_like_a_stand_in_stays_a_host_of_its_own() -> None:
    sharing = Sharing()
    shared = [sharing.share(recording(name, {"name": f"{name}\n"})) for name in ("gpu-a", "host-1", "host-2")]
    assert len({r.host for r in shared}) == 3
    assert [outputs(r)["name"].strip() for r in shared] == [r.host for r in shared]


def test_a_file_that_travels_encoded_is_gone_over_as_text() -> None:
    text = base64.b64encode(b"10.1.2.3 gpu-a.corp.example gpu-a\n").decode()
    shared = Sharing().share(recording("gpu-a", {"files": f"file /etc/hosts\ntext {text}\nend \n"}))
    encoded = re.search("text (.*)", outputs(shared)["files"])
    assert encoded is not None
    assert base64.b64decode(encoded[1]) == b"198.18.0.1 host-1 host-1\n"


def test_facts_that_do_not_identify_anything_are_those_of_the_full_recording() -> None:
    full = recording(
        "ubuntu",
        {
            "os": "ID=ubuntu\nVERSION_ID=24.04\nHOME_URL=https://www.ubuntu.com/\n",
            "boot": "f0df4a06-c087-4cc0-9362-4e7f819c383b\n3821.77 7022.10\n",
            "name": "ubuntu\n",
            "packages": "install ok installed amd64 9.10.2.21 libcudnn9\nhold ok installed all 1 ubuntu\naudit\nend\n",
        },
    )
    before, after = snapshot_of(full), snapshot_of(Sharing().share(full))
    changed = {a for a in before.facts if before.facts[a].observation != after.facts[a].observation}
    assert changed == {"host.name"}
    assert after.observe('package["libcudnn9"].version') == Known("9.10.2.21")


def test_collectors_that_name_hosts_exist() -> None:
    assert BY_NAME.keys() >= NAMING
