"""Labs for the end-to-end tests: one that is brought up once, and fresh ones for tests that break things."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from gpuprov.lab import lab as labs
from gpuprov.lab.description import LabDescription
from gpuprov.lab.seed import draw
from gpuprov.lab.state import LabState
from gpuprov.model.progress import Progress
from tests.e2e.site import LabSite, exported

SEED = int(os.environ.get("GPUPROV_TEST_SEED", "11"))
"""Any seed must pass; a failing one can be run again by its number."""


def say(progress: Progress) -> None:
    """Lab progress into the test's captured output."""
    print(progress.phase, progress.subject, progress.text)  # noqa: T201


def small(description: LabDescription, lab_id: str, *, train: int, cpu: int) -> LabDescription:
    """A lab of fewer nodes: the first ones of each group."""
    groups = {"train": train, "cpu": cpu}
    nodes = []
    for node in description.nodes:
        if groups[node.group]:
            groups[node.group] -= 1
            nodes.append(node)
    assert not any(groups.values()), "the seed gives too few nodes of a group"
    return replace(description, id=lab_id, nodes=tuple(nodes))


def needs_fabric(seed: int) -> bool:
    """Whether a seed draws GPUs that hang together by NVSwitches."""
    return any(node.gpu is not None and node.gpu.nvswitch for node in draw(seed, cloud=False).nodes)


@pytest.fixture(scope="session")
def fresh_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., LabSite]]:
    """Makes a lab that no other test uses; all go at the end of the session."""
    made: list[LabState] = []

    def make(
        lab_id: str, *, train: int = 1, cpu: int = 0, nodes: int = 4, seed: int = SEED, cloud: bool = False
    ) -> LabSite:
        print(f"lab {lab_id}, seed {seed}")  # noqa: T201
        folder: Path = tmp_path_factory.mktemp(lab_id)
        labs.down(lab_id, say)  # what a killed test run left
        made.append(labs.up(small(draw(seed, nodes=nodes, cloud=cloud), lab_id, train=train, cpu=cpu), folder, say))
        return LabSite(lab=made[-1], env=exported(folder / "aws.env") if cloud else {})

    yield make
    for state in made:
        labs.down(state.id, say)


@pytest.fixture(scope="session")
def site(fresh_lab: Callable[..., LabSite]) -> LabSite:
    """Two hosts whose GPUs need Fabric Manager and one without GPUs, brought up; a test leaves it as it found it."""
    made = fresh_lab("e2e", train=2, cpu=1, seed=next(seed for seed in count(SEED) if needs_fabric(seed)))
    made.run("lock")
    first = made.up()
    assert {host["state"] for host in first.body["hosts"]} == {"changed"}
    return made
