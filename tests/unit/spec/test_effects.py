"""Every field that is built has a row, every facet that is wanted comes from a field, and no cost is told too low."""

import pytest
from host_builders import make_want

from gpuprov.model.address import pattern_of, split_address
from gpuprov.model.facet import Cost
from gpuprov.model.facets import BY_PATTERN, FACETS
from gpuprov.spec.effects import EFFECTS, effect_of, fields_of_facet
from gpuprov.spec.fields import spec_fields
from gpuprov.want.expectations import expectations
from gpuprov.want.types import Owned

HEADINGS = {"stack", "pools", "monitoring", "targets"}
"""They hold fields, and nothing else can be said of them."""
ASKS = {
    "nvidia-driver-cuda": "stack.driver.version",
    "nvidia-kernel-open-dkms": "stack.driver.modules",
    "nvidia-fabricmanager": "stack.fabric",
    "cuda-toolkit-13-0": "stack.cuda",
    "docker.io": "stack.container.engine",
    "nvidia-container-toolkit": "stack.container.toolkit",
    "datacenter-gpu-manager-exporter": "monitoring.exporters",
    "prometheus-node-exporter": "monitoring.exporters",
    "/etc/motd": "files.*.text",
    "/etc/docker/daemon.json": "stack.container.toolkit",
    "docker": "stack.container",
    "node": "monitoring.exporters",
    "dcgm": "monitoring.exporters",
}
"""What asks for a package, a file, a unit or an exporter of the want that the builders make."""
ORDER = [Cost.OBSERVED, *(cost for cost in Cost if cost is not Cost.OBSERVED)]


def test_every_field_that_is_built_has_a_row() -> None:
    built = {field.address for field in spec_fields() if not field.about.not_yet}
    assert {address for address in built if effect_of(address) is None} == HEADINGS
    assert {row.address for row in EFFECTS} <= built
    assert len({row.address for row in EFFECTS}) == len(EFFECTS)


def test_every_row_names_facets_and_ends_its_sentence() -> None:
    for row in EFFECTS:
        assert [pattern for pattern in row.facets if pattern not in BY_PATTERN] == [], row.address
        assert row.change.endswith("."), row.address


@pytest.mark.parametrize("facet", [facet for facet in FACETS if facet.want], ids=lambda facet: facet.pattern)
def test_every_facet_that_is_wanted_comes_from_a_field(facet: object) -> None:
    pattern = getattr(facet, "pattern", "")
    assert list(fields_of_facet(pattern)) != []


def test_no_cost_is_told_lower_than_the_want_has_it() -> None:
    """The rows of a want, each held against the field that asks for it."""
    checked = set()
    for row in expectations(make_want(), Owned()):
        member = split_address(row.address)
        asks = ASKS.get(member[1]) if member else row.address if row.address.startswith("stack.driver.") else None
        effect = effect_of(asks) if asks else None
        if effect is None:
            continue
        assert pattern_of(row.address) in {*effect.facets, *_of_section(effect.address)}, row.address
        assert ORDER.index(row.cost) <= ORDER.index(effect.cost), (row.address, effect.address)
        checked.add(member[1] if member else row.address)
    assert checked >= set(ASKS) | {"stack.driver.loaded", "stack.driver.on_disk"}


def _of_section(address: str) -> tuple[str, ...]:
    """The facets of the rows above: `stack.driver.modules` is a part of `stack.driver`."""
    above = effect_of(address.rpartition(".")[0])
    return above.facets if above else ()


def test_the_nearest_row_counts() -> None:
    found = {
        pattern: effect_of(pattern) for pattern in ("stack.driver.modules", "stack.driver.version", "sources.*.key")
    }
    assert {pattern: row.address for pattern, row in found.items() if row} == {
        "stack.driver.modules": "stack.driver.modules",
        "stack.driver.version": "stack.driver",
        "sources.*.key": "sources",
    }
    assert effect_of("stack") is None
    assert effect_of("osx") is None
