import json
import re
from pathlib import Path
from typing import Any

import pytest
from aws_plugin import Engine, Kept
from lab_account import IMAGE, Cloud

from gpuprov.lab.aws.plugin import wire
from gpuprov.lab.aws.plugin.handlers import HANDLERS

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

FOLDER = Path(__file__).parents[4] / "cases/lab/aws/plugin/scenarios"
SCENARIOS = {place.stem: json.loads(place.read_text(encoding="utf-8")) for place in sorted(FOLDER.glob("*.json"))}


def filled(value: Any, made: dict[str, str]) -> Any:
    """Put the ids of what was made in the place of `${name}`."""
    if isinstance(value, dict):
        return {key: filled(member, made) for key, member in value.items()}
    if isinstance(value, list):
        return [filled(member, made) for member in value]
    if isinstance(value, str) and (found := re.fullmatch(r"\$\{(\w+)\}", value)):
        return made[found[1]]
    return value


def shown(outputs: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The outputs that a step is about."""
    plain = wire.plain(outputs)
    return {name: plain.get(name) for name in wanted}


def looks_settled(engine: Engine, kept: Kept) -> None:
    """A read finds the inputs as the state holds them, and nothing to change."""
    found = engine.read(kept)
    assert found.id == kept.id
    assert wire.read(found.inputs) == kept.inputs
    assert wire.read(found.properties).keys() >= kept.outputs.keys()
    answer = engine.diff(kept, {k: v for k, v in kept.inputs.items() if k not in kept.inputs[wire.DEFAULTS]})
    assert not answer.diffs, answer


@pytest.mark.timeout(120)  # an instance is stopped and started, beside whatever else this machine does
@pytest.mark.parametrize("name", SCENARIOS)
def test_made_read_changed_removed(name: str, engine: Engine, plugin_cloud: Cloud) -> None:
    made: dict[str, str] = {"image": IMAGE}
    stack: list[tuple[dict[str, Any], Kept]] = []
    for step in SCENARIOS[name]:
        kept = engine.create(step["type"], step["as"], filled(step["inputs"], made))
        made[step["as"]] = kept.id
        assert re.fullmatch(step["id"], kept.id) or step["id"].startswith("r-")
        assert shown(kept.outputs, step["outputs"]) == filled(step["outputs"], made)
        looks_settled(engine, kept)
        stack.append((step, kept))
    for step, kept in stack:
        if step["update"] is not None:
            news = filled(step["update"], made)
            answer = engine.diff(kept, news)
            assert answer.diffs
            assert not answer.replaces
            engine.update(kept, news)
            looks_settled(engine, kept)
    for step, kept in reversed(stack):
        engine.delete(kept)
        assert bool(engine.read(kept).id) == bool(step.get("stays"))
        engine.delete(kept)  # what is gone already is no error


def test_each_type_is_in_a_scenario_with_an_update_of_its_own() -> None:
    steps = [step for scenario in SCENARIOS.values() for step in scenario]
    assert {step["type"] for step in steps} == set(HANDLERS)
    changed = {step["type"] for step in steps if step["update"] is not None}
    assert set(HANDLERS) - changed == {"aws:ec2/route:Route"}
