"""Where final values come from: each layer, and the law that nothing final is missing."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.spec.decode import load, read_written
from gpuprov.spec.origin import Origin, origins

FOLDER = Path(__file__).parents[2] / "cases" / "spec"
REFUSED = yaml.safe_load((FOLDER / "refused.yaml").read_text())
CLOUD = yaml.safe_load((FOLDER / "cloud.yaml").read_text())
LOADED = yaml.safe_load((FOLDER / "loaded.yaml").read_text())
LOADS = [(REFUSED["base"], case) for case in LOADED["cases"]] + [(CLOUD["base"], case) for case in CLOUD["loaded"]]

TEXT = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
verify: [a]
stack:
  driver: {version: "580.*"}
  dcgm: "4.*"
  packages: [htop, {name: bc, version: "1.*"}]
pools:
  one: {gpu: none}
  two:
    gpu: none
    os: debian-13
    verify: []
    stack: {driver: {source: os}, dcgm: null, packages: [{name: jq}, nano]}
  three: {gpu: none, stack: {fabric: none}}
"""


def of(text: str) -> dict[str, Origin]:
    written, spans, problems = read_written(text, "f")
    assert problems == ()
    assert written is not None
    return {origin.address: origin for origin in origins(written, spans)}


@pytest.mark.parametrize(
    ("address", "value", "layer", "line"),
    [
        ("os", "debian-12", "spec", 3),
        ("stack.driver.version", "580.*", "spec", 6),
        ("stack.driver.modules", "open", "default", None),
        ("stack.packages[0].name", "htop", "spec", 8),
        ("stack.packages[0].version", "", "default", None),
        ("stack.cuda", None, "default", None),
        ("pools.one.gpu", "none", "spec", 10),
        ("pools.one.os", "debian-12", "inherited", 3),
        ("pools.one.verify", ["a"], "inherited", 4),
        ("pools.one.stack.driver.version", "580.*", "inherited", 6),
        ("pools.one.stack.packages[0].name", "htop", "inherited", 8),
        ("pools.one.stack.driver.modules", "open", "default", None),
        ("pools.one.rollout.batch", "1", "default", None),
        ("pools.two.os", "debian-13", "override", 13),
        ("pools.two.verify", [], "override", 14),
        ("pools.two.stack.driver.source", "os", "override", 15),
        ("pools.two.stack.driver.version", "580.*", "inherited", 6),
        ("pools.two.stack.dcgm", None, "override", 15),
        ("pools.two.stack.packages[0].name", "jq", "override", 15),
        ("pools.two.stack.packages[1].name", "nano", "override", 15),
        ("pools.two.stack.packages[1].version", "", "default", None),
        ("pools.three.stack.packages[1].version", "1.*", "inherited", 8),
        ("pools.three.stack.fabric", "none", "override", 16),
        ("pools.three.stack.packages[0].name", "htop", "inherited", 8),
        ("pools.three.stack.dcgm", "4.*", "inherited", 7),
    ],
)
def test_layers(address: str, value: Any, layer: str, line: int | None) -> None:
    found = of(TEXT)[address]
    assert (found.value, str(found.layer), found.span.line if found.span else None) == (value, layer, line)


WITH_TARGETS = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
stack: {driver: {version: "580.*"}, dcgm: "4.*", cuda: "13.0"}
targets:
  onprem: {inventory: i.yml, stack: {driver: {modules: proprietary}, cuda: "12.8"}}
pools:
  racked: {gpu: none, onprem: {group: a}, stack: {cuda: "12.9"}}
  plain: {gpu: none, onprem: {group: b}}
  nowhere: {gpu: none}
"""


@pytest.mark.parametrize(
    ("address", "value", "layer", "line", "above"),
    [
        ("targets.onprem.stack.driver.modules", "proprietary", "override", 6, "stack.driver.modules"),
        ("targets.onprem.stack.driver.version", "580.*", "inherited", 4, "stack.driver.version"),
        ("targets.onprem.stack.fabric", "auto", "default", None, "stack.fabric"),
        ("pools.racked.stack.cuda", "12.9", "override", 8, "targets.onprem.stack.cuda"),
        ("pools.racked.stack.driver.modules", "proprietary", "inherited", 6, "targets.onprem.stack.driver.modules"),
        ("pools.racked.stack.dcgm", "4.*", "inherited", 4, "stack.dcgm"),
        ("pools.plain.stack.cuda", "12.8", "inherited", 6, "targets.onprem.stack.cuda"),
        ("pools.plain.stack.driver.version", "580.*", "inherited", 4, "stack.driver.version"),
        ("pools.nowhere.stack.cuda", "13.0", "inherited", 4, "stack.cuda"),
        ("pools.nowhere.stack.driver.modules", "open", "default", None, "stack.driver.modules"),
    ],
)
def test_layers_of_a_target(address: str, value: Any, layer: str, line: int | None, above: str) -> None:
    found = of(WITH_TARGETS)[address]
    place = found.span.line if found.span else None
    assert (found.value, str(found.layer), place, found.above) == (value, layer, line, above)


def name_of(value: Any) -> str:
    return str(value["id"]) if isinstance(value, dict) else ""


@pytest.mark.parametrize(("base", "case"), LOADS, ids=name_of)
def test_final_values_are_those_of_the_spec(base: str, case: dict[str, Any]) -> None:
    text = case.get("text", base)
    for old, new in case.get("change", {}).items():
        text = text.replace(old, new)
    spec, _ = load(text, "f")
    found = of(text)
    assert spec is not None
    for name, pool in spec.pools.items():
        assert found[f"pools.{name}.os"].value == pool.os
        assert found[f"pools.{name}.verify"].value == list(pool.verify)
        assert found[f"pools.{name}.stack.fabric"].value == pool.stack.fabric
        version = found.get(f"pools.{name}.stack.driver.version")
        assert (version.value if version else None) == (pool.stack.driver.version if pool.stack.driver else None)
    written = {origin.span for origin in found.values() if origin.span}
    assert {span for address, span in spec.spans.items() if address in found} <= written
