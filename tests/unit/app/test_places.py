"""Which line of spec or lock a finding is told at."""

from pathlib import Path
from typing import Any

import pytest
from host_builders import make_lock
from parity_reports import make_finding

from gpuprov.app.places import find_places, from_repository
from gpuprov.app.site import Site, open_site
from gpuprov.compare.finding_id import finding_id
from gpuprov.lock.text import write_lock
from gpuprov.model.fact import Known
from gpuprov.model.finding import FindingKind
from gpuprov.model.status import ExitStatus
from gpuprov.parity.types import Parity

SPEC = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
stack:
  driver: {version: "580.*", modules: open}
  container: {engine: docker, toolkit: "1.18.*"}
pools:
  train:
    gpu: {model: H100-SXM5-80GB, per_host: 8}
    cloud: {instance: p5.48xlarge, hosts: [c1]}
    onprem: {group: train}
    stack: {container: {toolkit: "1.17.*"}}
  lean:
    gpu: {model: H100-SXM5-80GB, per_host: 4}
    onprem: {group: lean}
    stack: {driver: {version: "570.*"}}
files: {"/etc/motd": {text: "GPU host"}}
monitoring: {exporters: [node]}
targets:
  onprem: {inventory: inventory/site.yml}
  cloud:
    {provider: aws, account: "111122223333", region: us-east-1,
     network: {cidr: 10.7.0.0/16, ranges: {office: ["203.0.113.0/24"]}, ssh_from: [office]}}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    folder = tmp_path / "sites" / "rack"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "gpuprov.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "gpuprov.lock").write_text(write_lock(make_lock()), encoding="utf-8")
    monkeypatch.chdir(folder)
    return open_site(Path("gpuprov.yaml"))


def place(site: Site | None, address: str, host: str = "r1", expected: Any = "x") -> tuple[str, str] | None:
    """File and line of a finding."""
    finding = make_finding(address, host, FindingKind.DIFFERENT, Known(expected), Known("y"))
    parity = Parity(
        hosts=(host,), facets=1, findings=(finding,), waived=(), not_compared=(), groups=(), rows=(), diagnostics=(),
        status=ExitStatus.DIFFERENT,
    )  # fmt: skip
    span = find_places(site, parity).get(finding_id(finding))
    return (span.file, span.text.strip()) if span is not None else None


@pytest.mark.parametrize(
    ("address", "host", "line"),
    [
        ("stack.driver.loaded", "c1", 'driver: {version: "580.*", modules: open}'),
        ("stack.driver.modules", "c1", 'driver: {version: "580.*", modules: open}'),
        ("stack.container.runtimes", "c1", 'stack: {container: {toolkit: "1.17.*"}}'),
        ("stack.container.runtimes", "r1", 'container: {engine: docker, toolkit: "1.18.*"}'),
        ("gpu.count", "c1", "gpu: {model: H100-SXM5-80GB, per_host: 8}"),
        ('file["/etc/motd"].sha256', "r1", 'files: {"/etc/motd": {text: "GPU host"}}'),
        ('exporter["node"].answers', "r1", "monitoring: {exporters: [node]}"),
        ('service["docker"].active', "r1", "stack:"),
        ("host.os", "r1", "os: debian-12"),
        ("host.os", "c1", "os: debian-12"),
        ("host.arch", "c1", None),
    ],
)
def test_a_facet_is_told_at_the_line_of_the_spec_that_governs_it(
    site: Site, address: str, host: str, line: str | None
) -> None:
    assert place(site, address, host) == (("sites/rack/gpuprov.yaml", line) if line is not None else None)


def test_where_nobody_knows_the_pool_no_pool_is_blamed(site: Site) -> None:
    assert place(site, "gpu.count", "r1") == ("sites/rack/gpuprov.yaml", "pools:")
    assert place(site, "stack.driver.loaded", "r1") == (
        "sites/rack/gpuprov.yaml",
        'driver: {version: "580.*", modules: open}',
    )


def test_a_package_is_told_at_its_row_of_the_lock(site: Site) -> None:
    found = place(site, 'package["libcuda1"].version', expected="580.95.05-1")
    assert found is not None
    assert found[0] == "sites/rack/gpuprov.lock"
    assert found[1].startswith('{"name": "libcuda1", "version": "580.95.05-1"')


def test_what_nobody_wrote_has_no_line(site: Site) -> None:
    assert place(site, "host.uptime") is None
    assert place(None, "host.os") is None


def test_a_file_outside_the_checkout_keeps_its_path(site: Site) -> None:
    assert from_repository("/somewhere/else/gpuprov.yaml") == "/somewhere/else/gpuprov.yaml"
    assert from_repository("../../a.yaml") == "a.yaml"
