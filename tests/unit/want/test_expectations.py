from dataclasses import replace

import pytest
from framework_builders import with_frameworks
from host_builders import make_want, owned_value, satisfied, sha256

from gpuprov.compare.facets import facet_of
from gpuprov.model.address import pattern_of
from gpuprov.model.facet import Cost
from gpuprov.model.facets import FACETS
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.want.empty import empty_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.mounts import MountWant
from gpuprov.want.owned import owned_of
from gpuprov.want.types import Expectation, Owned

WANT = make_want(kernel="6.1.0-37-amd64")


SHARE = MountWant(name="data", device="nfs.example:/srv", place="/data", filesystem="nfs")
DISK = MountWant(name="scratch", device="/dev/nvme1n1", place="/scratch", filesystem="ext4", rights=("group ml rwx",))


def by_address(owned: Owned | Unknown = Owned(), want: object = WANT) -> dict[str, Expectation]:  # noqa: B008 frozen
    found = expectations(want, owned)  # type: ignore[arg-type]
    assert len({e.address for e in found}) == len(found)
    return {e.address: e for e in found}


def test_every_facet_that_can_be_wanted_is_expected_and_no_other() -> None:
    wanted = {facet.pattern for facet in FACETS if facet.want}
    more = with_frameworks(make_want(settled=True))
    found = {
        *by_address(),
        *by_address(want=replace(more, pool=replace(more.pool, containerd=True, mounts=(DISK, SHARE)))),
    }
    assert {pattern_of(address) for address in found} == wanted


def test_expectations_use_the_facets_comparator_or_one_that_has_sides() -> None:
    others = {
        address: e.comparator for address, e in by_address().items() if e.comparator != facet_of(address).comparator
    }
    assert set(others.values()) <= {"boot", "within", "contains"}


def test_a_package_is_expected_with_version_state_and_hold() -> None:
    found = by_address()
    assert found['package["libcuda1"].version'].value == Known("580.95.05-1")
    assert found['package["libcuda1"].state'].value == Known("installed")
    assert found['package["libcuda1"].held'].value == Known(value=True)
    assert found['package["libcuda1"].version'].reason == "lock: libcuda1=580.95.05-1"


def test_what_a_change_costs_depends_on_the_package() -> None:
    found = by_address()
    assert found['package["libcuda1"].version'].cost is Cost.REBOOT
    assert found['package["docker.io"].version'].cost is Cost.RESTART
    assert found['package["cuda-toolkit-13-0"].version'].cost is Cost.NOTHING
    without = by_address(want=make_want(gpus=False))
    assert without['package["libcuda1"].version'].cost is Cost.NOTHING


def test_files_sources_and_keys_are_expected_by_digest_and_owner() -> None:
    found = by_address()
    assert found['file["/etc/motd"].sha256'].value == Known(sha256("GPU host\n"))
    for path in ("/etc/apt/keyrings/gpuprov-nvidia.asc", "/etc/apt/sources.list.d/gpuprov-nvidia.sources"):
        assert found[f'file["{path}"].mode'].value == Known("0644")
        assert found[f'file["{path}"].owner'].value == Known("root")
    assert 'file["/etc/docker/daemon.json"].sha256' not in found
    assert found['file["/etc/docker/daemon.json"].text'].comparator == "contains"


def test_gpus_are_expected_and_cannot_be_made() -> None:
    found = by_address()
    assert (found["gpu.count"].value, found["gpu.count"].curable) == (Known(8), False)
    assert found["gpu.models"].value == Known(["NVIDIA H100 80GB HBM3"])


def test_what_gpuprov_made_and_nobody_wants_is_expected_to_be_gone() -> None:
    owned = Owned(
        packages={"htop": "3.2-1", "libcuda1": "570.1-1"},
        files={"/etc/x": "f00", "/etc/motd": "f00"},
        sources=("old",),
        brought=("htop", "libcuda1"),
    )
    found = by_address(owned)
    assert found['package["htop"].version'].value == Absent()
    assert found['package["libcuda1"].version'].value == Known("580.95.05-1")
    gone = [address for address, e in found.items() if e.value == Absent() and address.startswith("file")]
    assert gone == [
        'file["/etc/apt/keyrings/gpuprov-old.asc"].sha256',
        'file["/etc/apt/sources.list.d/gpuprov-old.sources"].sha256',
        'file["/etc/x"].sha256',
    ]


@pytest.mark.parametrize("brought", [None, (), ("nvtop",)])
def test_a_package_goes_only_where_the_record_says_that_gpuprov_brought_it(brought: tuple[str, ...] | None) -> None:
    found = by_address(Owned(packages={"htop": "3.2-1", "nvtop": "3.0-1"}, brought=brought))
    assert 'package["htop"].version' not in found
    assert (found['package["htop"].held'].value, found['package["htop"].held'].comparator) == (
        Known(value=False),
        "unset",
    )
    gone = {address for address, e in found.items() if e.value == Absent()}
    assert gone == {f'package["{name}"].version' for name in brought or ()}


def test_a_hand_back_wants_nothing_but_our_traces_gone() -> None:
    owned = owned_of(satisfied(WANT))
    assert isinstance(owned, Owned)
    found = by_address(owned, host_want(empty_want("train", "onprem", "debian-12", "amd64"), "node-1"))
    held = {f'package["{package.name}"].held' for package in WANT.pool.packages}
    assert {address for address, e in found.items() if e.value == Known(value=False)} == held
    shared = found.pop('file["/etc/docker/daemon.json"].text')
    assert (shared.comparator, shared.value) == ("lacks", Known(owned.merged["/etc/docker/daemon.json"].ours))
    assert {e.value for address, e in found.items() if address not in held} == {Absent()}
    assert 'file["/etc/apt/keyrings/gpuprov-nvidia.asc"].sha256' in found
    assert 'file["/etc/docker/daemon.json"].sha256' not in found


def test_a_record_that_cannot_be_read_is_an_expectation_that_nothing_meets() -> None:
    found = by_address(Unknown("permission denied"))
    assert found["gpuprov.owned"].value == Unknown("permission denied")
    assert 'package["libcuda1"].version' in found


def test_the_record_in_the_builders_is_what_the_want_makes() -> None:
    value = owned_value(WANT.pool)
    assert set(value["packages"]) == {package.name for package in WANT.pool.packages}
    assert "/etc/docker/daemon.json" not in value["files"]
