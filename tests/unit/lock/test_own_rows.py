"""A spec's own catalog rows reach everything that is made from the catalog: rules, requests and the lock's digest."""

from pathlib import Path

import yaml

from gpuprov.lock.compatibility import check_spec
from gpuprov.lock.requests import catalog_inputs, requests_for
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

BASE = yaml.safe_load((Path(__file__).parents[2] / "cases" / "spec" / "refused.yaml").read_text())["base"]
TODAY = "2026-11-30"


def spec_with(rows: dict[str, str], change: dict[str, str] | None = None) -> Spec:
    """The base spec with own rows, one line of YAML for each table."""
    text = BASE
    for old, new in (change or {}).items():
        text = text.replace(old, new)
    source = "sources: {own: {title: our notes, url: 'https://example.org', as_of: '2026-11'}}\n"
    files = {f"{table}.yaml": f"{source}rows: [{{{row}, sources: [own]}}]\n" for table, row in rows.items()}
    spec, found = load(f"{text}catalog: rows\n" if rows else text, "gpuprov.yaml", lambda _: files)
    assert spec is not None, found
    return spec


def codes(spec: Spec) -> list[str]:
    return [d.code for d in check_spec(spec, today=TODAY)]


def test_packages_are_asked_for_by_their_own_names() -> None:
    spec = spec_with({"packages": "id: cuda-toolkit, packages: [site-cuda-<M>-<m>]"})
    names = {request.name for request in requests_for(spec, spec.pools["train"])}
    assert "site-cuda-13-0" in names
    assert "cuda-toolkit-13-0" not in names
    assert catalog_inputs(spec) != catalog_inputs(spec_with({}))


def test_a_row_that_the_lock_does_not_use_leaves_its_digest() -> None:
    spec = spec_with({"gpus": 'id: T4, min_driver: "418.40.04"'})
    assert catalog_inputs(spec) == catalog_inputs(spec_with({}))


def test_what_was_unknown_is_decided() -> None:
    change = {'"580.*"': '"630.10.01"'}
    assert "GP-RULE-900" in codes(spec_with({}, change))
    branch = (
        'id: "630", type: production, status: supported, end_of_support: "2030-01", flavours: [open], '
        'architectures: [hopper], max_cuda: "13.9", latest: "630.10.01"'
    )
    assert codes(spec_with({"branches": branch}, change)) == []


def test_a_row_can_refuse_what_the_packaged_one_allows() -> None:
    spec = spec_with({"gpus": 'id: H100-SXM5-80GB, min_driver: "595.1"'})
    (found,) = check_spec(spec, today=TODAY)
    assert found.code == "GP-RULE-002"
    assert "our notes, 2026-11" in found.source


def test_an_instance_type_of_ones_own_is_known() -> None:
    cloud = yaml.safe_load((Path(__file__).parents[2] / "cases" / "spec" / "cloud.yaml").read_text())["base"]
    text = cloud.replace("p5.48xlarge", "p9.48xlarge")
    rows = (
        "sources: {own: {title: our notes, url: 'https://example.org', as_of: '2026-11'}}\n"
        "rows: [{id: p9.48xlarge, gpu: H100-SXM5-80GB, gpu_name: H100, gpus: 8, vcpus: 192, memory_mib: 2097152, "
        "local_nvme_gb: 0, arch: amd64, sources: [own]}]\n"
    )
    before, _ = load(text, "gpuprov.yaml")
    after, _ = load(f"{text}catalog: rows\n", "gpuprov.yaml", lambda _: {"instances.yaml": rows})
    assert before is not None
    assert after is not None
    assert "GP-CLOUD-022" in codes(before)
    assert "GP-CLOUD-022" not in codes(after)
