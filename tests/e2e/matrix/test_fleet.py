"""Four hosts, one after the other: the one of the second batch fails, and the rollout stops there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import lab as labs
from gpuprov.lab.seed import draw
from tests.e2e.conftest import SEED, say
from tests.e2e.matrix.faults import HOLDER
from tests.e2e.matrix.trial import Note, noted
from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.network, pytest.mark.matrix, pytest.mark.timeout(1800)]

PACKAGE = "figlet"
SPEC = """\
apiVersion: gpuprov/v1
name: fleet
os: {os}
stack: {{packages: [{package}]}}
pools:
  cpu: {{gpu: none, onprem: {{group: cpu}}, rollout: {{batch: "1"}}}}
targets: {{onprem: {{inventory: inventory/site.yml}}}}
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabSite]:
    """Four hosts without GPUs, and a spec that nobody has brought to them."""
    drawn = draw(SEED, nodes=4, cloud=False)
    nodes = tuple(replace(node, gpu=None, group="cpu") for node in drawn.nodes)
    folder: Path = tmp_path_factory.mktemp("mxflt")
    labs.down("mxflt", say)  # what a killed test run left
    state = labs.up(replace(drawn, id="mxflt", nodes=nodes), folder, say)
    try:
        site = LabSite(lab=state, env={"GPUPROV_APT_LOCK_TIMEOUT": "3"})
        (folder / "gpuprov.yaml").write_text(SPEC.format(os=nodes[0].os, package=PACKAGE), encoding="utf-8")
        site.run("lock")
        yield site
    finally:
        labs.down(state.id, say)


def test_one_of_four_fails_in_batch_two(fleet: LabSite, record_property: Note) -> None:
    first, second, *others = fleet.names
    with noted(record_property, fault="one_of_four", at="batch two of four") as seen:
        fleet.root(second, f'systemd-run --quiet --unit=holder python3 -c "{HOLDER}"')
        ended = fleet.up(expect=None)
        fleet.root(second, "systemctl stop holder")
        states = touched(ended)
        seen.update(status=str(ended.status), told=" ".join(ended.codes), after=", ".join(states.values()))
        assert (ended.status, ended.codes) == (4, ["GP-CONV-004"]), ended.stderr
        assert second in ended.stderr
        assert states == {first: "changed", second: "failed", **dict.fromkeys(others, "not started")}
        installed = "dpkg-query -W -f='${db:Status-Status}' " + PACKAGE + " 2>/dev/null || true"
        assert [fleet.root(name, installed) for name in fleet.names] == ["installed", "", "", ""]
        assert touched(fleet.up()) == {first: "satisfied", **dict.fromkeys((second, *others), "changed")}
        assert fleet.drift().status == 0
        seen["mended"] = "up"
