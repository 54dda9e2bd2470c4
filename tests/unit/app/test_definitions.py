"""Which keys may have weak self-signatures: those that the catalog names for the hosts' operating system."""

from pathlib import Path

import pytest

from gpuprov.app.definitions import definitions_for
from gpuprov.app.site import open_site
from gpuprov.lock.requests import pool_inputs
from gpuprov.model.diagnostic import GpuprovError

SPEC = """apiVersion: gpuprov/v1
name: s
os: {os}
sources:
  os: {{url: "http://h/", suite: s, components: [main], key: k.asc}}
  nvidia: {{url: "http://h/", flat: true, key: k.asc, architectures: [{arch}]}}
stack: {{driver: {{version: "580.*", source: nvidia}}}}
pools: {{a: {{gpu: {{model: {gpu}, per_host: 1}}}}}}
"""


def excepted(tmp_path: Path, os: str, *, gpu: str = "L40S", arch: str = "amd64") -> dict[str, frozenset[str]]:
    (tmp_path / "k.asc").write_text("a key")
    path = tmp_path / "gpuprov.yaml"
    path.write_text(SPEC.format(os=os, gpu=gpu, arch=arch))
    site = open_site(path)
    found = definitions_for(site, os, pool_inputs(site.spec))
    return {definition.name: definition.excepted_keys for definition in found}


def test_the_key_that_the_systems_own_apt_takes_is_excepted(tmp_path: Path) -> None:
    named = frozenset({"EB693B3035CD5710E231E123A4B469963BF863CC"})
    assert set(excepted(tmp_path, "debian-12").values()) == {named}


def test_a_system_whose_apt_refuses_the_key_has_no_exception(tmp_path: Path) -> None:
    assert set(excepted(tmp_path, "debian-13").values()) == {frozenset()}


def test_sources_of_one_architecture_serve_its_hosts_alone(tmp_path: Path) -> None:
    assert set(excepted(tmp_path, "debian-12", gpu="GH200-96GB", arch="arm64")) == {"os", "nvidia"}
    with pytest.raises(GpuprovError) as caught:
        excepted(tmp_path, "debian-12", gpu="GH200-96GB", arch="amd64")
    assert caught.value.diagnostics[0].code == "GP-SPEC-005"
