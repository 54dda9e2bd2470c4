"""The environment's lock is the one of pyproject.toml: complete, hashed, and free of any host's name."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def lock(checkout: Path) -> str:
    return (checkout / ".ci" / "requirements.lock").read_text()


def load_requirements() -> list[str]:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    return [
        *project["project"]["dependencies"],
        *(r for extra in extras for r in extra),
        *project["dependency-groups"]["dev"],
    ]


def find_pins(lock: str) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", lock)}


@pytest.mark.parametrize("text", load_requirements())
def test_a_requirement_is_bounded_and_its_pin_within_the_bounds(text: str, lock: str) -> None:
    requirement = Requirement(text)
    operators = {specifier.operator for specifier in requirement.specifier}
    assert operators == {">=", "<"}, "each dependency has a lower and an upper bound"
    pinned = find_pins(lock).get(canonicalize_name(requirement.name))
    assert pinned is not None, "not in the lock: run `make lock`"
    assert requirement.specifier.contains(pinned, prereleases=True), f"pinned to {pinned}: run `make lock`"


def test_every_pin_has_hashes(lock: str) -> None:
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)[1:]
    assert len(blocks) == len(find_pins(lock)) > 20
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_it_names_no_index(lock: str) -> None:
    assert re.findall(r"https?://\S+|(?m:^--?\w[\w-]*)", lock) == []
