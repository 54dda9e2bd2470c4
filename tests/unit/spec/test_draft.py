"""The example loads without a fault; a draft says what the host has, and tells what could not be seen."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.document.yaml_text import parse_yaml
from gpuprov.lock.compatibility import check_spec
from gpuprov.model.diagnostic import Severity
from gpuprov.model.fact import Absent, Fact, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import Snapshot
from gpuprov.spec.decode import load
from gpuprov.spec.draft import draft_spec, example_inventory, example_spec

GPU_HOST: dict[str, Value] = {
    "host.os": "debian-12",
    "gpu.count": 8,
    "gpu.models": ["NVIDIA H100 80GB HBM3"],
    "stack.driver.nvml": "580.95.05",
    "stack.driver.on_disk": "580.95.05",
    "stack.driver.modules": "open",
    "stack.cuda.toolkits": ["12.9.1", "13.0.2"],
    "stack.container.version": "20.10.24",
    "stack.container.toolkit": "1.18.1",
    "stack.dcgm.version": "4.5.2",
    'package["nvidia-driver-cuda"].version': "580.95.05-1",
    'package["nvidia-driver-cuda"].held': True,
    'exporter["node"].answers': True,
    'exporter["dcgm"].answers': True,
    "apt.sources": [
        {"file": "a", "uris": ["https://deb.example.org/debian"], "suites": ["bookworm"], "components": ["main"]},
        {
            "file": "cuda.list",
            "uris": ["https://mirror.example.org/cuda"],
            "suites": ["/"],
            "signed_by": "/usr/share/k.gpg",
        },
    ],
}


def snapshot(facts: dict[str, Value], host: str = "gpu-01.example.org", **observed: Observation) -> Snapshot:
    known = {address: Fact(address=address, observation=Known(value)) for address, value in facts.items()}
    other = {a.replace("__", "."): o for a, o in observed.items()}
    return Snapshot(
        host=host,
        taken="2026-11-30T03:00:00Z",
        facts={**known, **{a: Fact(address=a, observation=o) for a, o in other.items()}},
        families={"package": Absent(), "exporter": Absent()},
    )


def test_what_the_example_shows_behind_marks_loads_too() -> None:
    marked = re.compile(r"^( *)# (?=(?:access|accept|cloud|parity|storage|tuning):|  +(?:- |\w+:))", re.MULTILINE)
    spec, found = load(marked.sub(r"\1", example_spec()), "gpuprov.yaml")
    assert found == ()
    assert spec is not None
    assert spec.cloud is not None
    assert set(spec.storage) == {"datasets", "scratch"}
    assert [pool.name for pool in spec.pools.values() if pool.cloud] == ["train", "login"]
    assert (len(spec.waivers), len(spec.accept)) == (1, 1)
    assert [member.name for member in spec.access.groups["ml"].members] == ["ana"]
    assert dict(spec.tuning.limits) == {"memlock": "unlimited"}
    assert [d for d in check_spec(spec, today="2026-11-30") if d.severity is Severity.ERROR] == []


def test_the_example_loads_and_no_rule_refuses_it() -> None:
    spec, found = load(example_spec(), "gpuprov.yaml")
    assert found == ()
    assert spec is not None
    assert [d for d in check_spec(spec, today="2026-11-30") if d.severity is Severity.ERROR] == []
    assert spec.sources["nvidia"].url.endswith("/debian12/x86_64/")


def test_the_inventory_fits_the_example() -> None:
    spec, _ = load(example_spec(), "gpuprov.yaml")
    assert spec is not None
    parse_yaml(example_inventory(), "site.yml")
    for pool in spec.pools.values():
        assert pool.onprem is not None
        assert f"    {pool.onprem.group}:\n" in example_inventory()


def test_a_draft_holds_what_the_host_has() -> None:
    text = draft_spec(snapshot(GPU_HOST))
    spec, found = load(text, "gpuprov.yaml")
    assert found == ()
    assert spec is not None
    pool = spec.pools["gpu-01"]
    assert pool.gpu is not None
    assert (pool.gpu.model, pool.gpu.per_host) == ("H100-SXM5-80GB", 8)
    stack = spec.stack
    assert stack.driver is not None
    assert (stack.driver.version, stack.driver.modules, stack.driver.source) == ("580.95.05", "open", "nvidia")
    assert stack.container is not None
    assert (stack.cuda, stack.container.toolkit, stack.dcgm) == ("13.0", "1.18.1", "4.5.2")
    assert spec.exporters == ("node", "dcgm")
    assert spec.sources["nvidia"].url == "https://mirror.example.org/cuda/"
    assert "12.9, 13.0" in text
    assert "Held on the host: nvidia-driver-cuda" in text
    assert "/usr/share/k.gpg" in text


def test_what_could_not_be_seen_is_a_comment_and_never_absent() -> None:
    text = draft_spec(
        snapshot({"host.os": "debian-12"}, gpu__count=Unknown("no /sys"), stack__driver__nvml=Unknown("timed out"))
    )
    assert "# CHECK: GPUs could not be observed on the host (no /sys)" in text
    assert "# driver: could not be observed on the host (timed out)" in text
    assert "\n  driver:" not in text


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"host.os": "debian-12", "gpu.count": 0}, "    gpu: none"),
        ({"gpu.count": 2, "gpu.models": ["NVIDIA X1"]}, "does not know the model NVIDIA X1"),
        ({"gpu.count": 2, "gpu.models": ["NVIDIA L4", "NVIDIA L40S"]}, "several models: NVIDIA L4, NVIDIA L40S"),
        ({"gpu.count": 2}, "2 GPUs; their model could not be observed"),
        ({"host.os": "ubuntu-24.04"}, "os: ubuntu-24.04    # this release does not support it"),
        ({"stack.driver.loaded": "570.86.15", "stack.driver.on_disk": "570.133.20"}, "waits for a reboot"),
        ({"stack.driver.loaded": "570.86.15"}, "installed in another way"),
        (
            {
                "stack.driver.loaded": "535.261.03",
                "stack.driver.modules": "proprietary",
                'package["nvidia-driver"].version': "535.261.03-1",
            },
            "modules: proprietary, source: os",
        ),
    ],
)
def test_drafts_say(facts: dict[str, Value], expected: str) -> None:
    assert expected in draft_spec(snapshot(facts))


@pytest.mark.parametrize("host", ["GPU_01", "10.0.0.7", "no", "host.example.org", "2001:db8::1", "ä", ""])
def test_any_host_name_gives_a_spec_that_loads(host: str) -> None:
    spec, found = load(draft_spec(snapshot(GPU_HOST, host)), "gpuprov.yaml")
    assert found == ()
    assert spec is not None


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(GPU_HOST)),
        st.text(max_size=12) | st.integers() | st.lists(st.text(max_size=8)) | st.booleans(),
    )
)
def test_any_facts_give_yaml(facts: dict[str, Value]) -> None:
    parse_yaml(draft_spec(snapshot({**GPU_HOST, **facts})), "gpuprov.yaml")
