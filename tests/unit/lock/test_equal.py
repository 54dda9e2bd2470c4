"""Branches in names, and what a mixed set says."""

import pytest

from gpuprov.lock.equal import branch_in_name, lying_branch


@pytest.mark.parametrize(
    ("name", "branch"),
    [
        ("nvidia-driver-495", 495),
        ("libnvidia-extra-590", 590),
        ("nvidia-headless-580-server-open", 580),
        ("cuda-drivers-535", 535),
        ("cuda-drivers-fabricmanager-535", 535),
        ("nvidia-driver-pinning-580.95.05", None),
        ("nvidia-open", None),
        ("cuda-toolkit-12-4", None),
        ("libnvidia-container1", None),
        ("libfoo-495", None),
    ],
)
def test_only_names_of_the_driver_claim_a_branch(name: str, branch: int | None) -> None:
    assert branch_in_name(name) == branch


@pytest.mark.parametrize(
    ("name", "version", "lie"),
    [
        ("nvidia-driver-495", "510.47.03-0ubuntu0.20.04.1", (495, 510)),
        ("libnvidia-extra-590", "595.71.05-0ubuntu0.26.04.1", (590, 595)),
        ("nvidia-driver-580", "580.95.05-0ubuntu0.22.04.1", None),
        ("nvidia-tesla-470-driver", "470.256.02-1~deb12u1", None),
        ("nvidia-driver-pinning-580", "580-1", None),
    ],
)
def test_a_name_lies_when_its_version_is_of_another_branch(
    name: str, version: str, lie: tuple[int, int] | None
) -> None:
    assert lying_branch(name, version) == lie
