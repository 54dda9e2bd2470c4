import re

import pytest

from gpuprov.lab.vendor import packages
from gpuprov.lab.vendor.packages import Package, control_of, described, fill

ARCHIVE = {"libc6", "python3", "kmod", "adduser"}
"""What the packages may take from the OS archive: kept small, so that a node installs them in seconds."""
ROWS = described("amd64")
RELATION = re.compile(r"(?P<name>[a-z0-9.+-]+)(?: \((?P<operator>[<>=]+) (?P<version>\S+)\))?$")


def relations(package: Package, field: str) -> list[list[re.Match[str]]]:
    """Reads a relation field: a list of groups of alternatives."""
    line = next((x for x in control_of(package).splitlines() if x.startswith(f"{field}: ")), f"{field}: ")
    groups = [group for group in line.removeprefix(f"{field}: ").split(", ") if group]
    found = [[RELATION.match(entry) for entry in group.split(" | ")] for group in groups]
    assert all(entry for group in found for entry in group), line
    return found  # type: ignore[return-value]


def row(name: str, version: str) -> Package:
    return next(package for package in ROWS if (package.name, package.version) == (name, version))


def test_no_file_name_is_given_twice() -> None:
    names = [package.file_name for package in ROWS]
    assert len(names) == len(set(names)) > 400


def test_every_dependency_can_be_met_from_the_repository_or_the_archive() -> None:
    offered = {}
    for package in ROWS:
        offered.setdefault(package.name, set()).add(package.version)
    for package in ROWS:
        for group in relations(package, "Depends") + relations(package, "Recommends"):
            met = [
                entry["name"] in ARCHIVE
                or (
                    entry["name"] in offered
                    and (entry["operator"] != "=" or entry["version"] in offered[entry["name"]])
                )
                for entry in group
            ]
            assert any(met), f"{package.name} {package.version}: {[entry[0] for entry in group]}"


@pytest.mark.parametrize("version", ["570.211.01-1", "580.95.05-1", "595.112.07-1"])
def test_below_the_two_named_packages_the_driver_set_is_bound_exactly(version: str) -> None:
    for top in ("nvidia-driver-cuda", "nvidia-kernel-open-dkms"):
        for group in relations(row(top, version), "Depends"):
            for entry in group:
                assert entry["name"] in ARCHIVE or (entry["operator"], entry["version"]) == ("=", version), entry[0]


def test_the_metapackages_let_the_driver_float_as_the_vendors_do() -> None:
    operators = {
        entry["operator"] for group in relations(row("nvidia-open", "580.95.05-1"), "Depends") for entry in group
    }
    assert operators == {">="}


@pytest.mark.parametrize(
    ("branch", "there", "absent"),
    [
        (
            "570",
            {"nvidia-smi", "nvidia-fabricmanager-570", "libnvidia-nscq-570"},
            {"nvidia-fabricmanager", "libnvidia-nvvm704"},
        ),
        (
            "580",
            {"nvidia-fabricmanager", "libnvidia-nscq", "cuda-drivers-580"},
            {"nvidia-smi", "nvidia-fabricmanager-580"},
        ),
        ("595", {"nvidia-fabricmanager", "nvidia-imex", "libnvidia-nvvm704"}, {"nvidia-smi", "cuda-drivers-595"}),
    ],
)
def test_names_change_with_the_branch(branch: str, there: set[str], absent: set[str]) -> None:
    names = {p.name for p in ROWS if any(release.startswith(f"driver/{branch}.") for release in p.releases)}
    assert there <= names
    assert not absent & names


def test_a_dead_branchs_name_becomes_a_transitional_package_of_the_next_branch() -> None:
    versions = {package.version for package in ROWS if package.name == "cuda-drivers-570"}
    assert {"570.211.01-1", "580.95.05-1"} <= versions
    assert "transitional" in control_of(row("cuda-drivers-570", "580.95.05-1"))


def test_the_four_container_packages_are_bound_to_each_other() -> None:
    entries = [group[0] for group in relations(row("nvidia-container-toolkit", "1.20.1-1"), "Depends")]
    assert {(e["name"], e["operator"], e["version"]) for e in entries} == {
        ("nvidia-container-toolkit-base", "=", "1.20.1-1"),
        ("libnvidia-container-tools", "=", "1.20.1-1"),
    }


def test_one_component_may_belong_to_several_releases() -> None:
    assert row("cuda-nvcc-13-0", "13.0.88-1").releases == {"cuda/13.0.2", "cuda/13.0.3"}


def test_the_epoch_is_no_part_of_the_file_name() -> None:
    assert (
        row("datacenter-gpu-manager-4-core", "1:4.6.1-1").file_name == "datacenter-gpu-manager-4-core_4.6.1-1_amd64.deb"
    )


def test_each_package_says_that_it_is_a_stand_in() -> None:
    assert all("Stand-in of gpuprov's lab" in control_of(package) for package in ROWS)


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="uses @nonsense@"):
        fill("a @nonsense@ b", {"version": "1"})
    assert fill("ldconfig = @/sbin/ldconfig", {}) == "ldconfig = @/sbin/ldconfig"


def test_every_package_can_be_built() -> None:
    newest = {(package.name): package for package in ROWS}
    for package in newest.values():
        assert packages.build(package).startswith(b"!<arch>\n")


def test_on_arm64_the_library_folders_are_those_of_arm64() -> None:
    library = next(p for p in described("arm64") if p.name == "libcuda1")
    assert library.architecture == "arm64"
    assert library.values["triplet"] == "aarch64-linux-gnu"


def test_the_digest_of_the_inputs_depends_on_the_architecture() -> None:
    assert packages.inputs_digest("amd64") == packages.inputs_digest("amd64") != packages.inputs_digest("arm64")
