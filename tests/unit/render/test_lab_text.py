"""Labs on screen and as JSON: what is there, what answers, and what to type next."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from gpuprov.lab.seed import draw
from gpuprov.lab.state import CloudStatus, InstanceStatus, LabState, LabStatus, NodeStatus, Power
from gpuprov.render.lab_text import lab_body, show_lab, show_labs
from gpuprov.render.terminal import Terminal

CLOUD = CloudStatus(
    account="111122223333",
    region="eu-west-3",
    endpoint="http://127.0.0.1:20000",
    api=True,
    plugin=False,
    instances=(
        InstanceStatus(id="i-1", private_address="10.7.0.5", public_address="198.18.3.40", power=Power.ON),
        InstanceStatus(id="i-2", private_address="10.7.0.6", public_address=None, power=Power.OFF),
    ),
)
NODE = NodeStatus(name="gpu1", address="10.9.0.5", power=Power.ON, ssh=True)
STATUS = LabStatus(id="abc", phase="up", nodes=(NODE,), repository=True, folder=Path("/f"), cloud=CLOUD)


def screen() -> tuple[Terminal, io.StringIO]:
    text = io.StringIO()
    console = Console(file=text, width=200, no_color=True)
    return Terminal(out=console, err=console), text


def test_a_labs_cloud_is_shown_with_what_answers_and_its_instances() -> None:
    terminal, text = screen()
    show_labs([STATUS], terminal)
    lines = [" ".join(line.split()) for line in text.getvalue().splitlines()]
    assert lines == [
        "lab abc: up; package repository answers",
        "gpu1 10.9.0.5 on, ssh answers",
        "AWS account 111122223333, eu-west-3, http://127.0.0.1:20000: API answers, resource plugin does not answer",
        "i-1 198.18.3.40 on",
        "i-2 10.7.0.6 off",
    ]


@pytest.mark.parametrize("cloud", [True, False])
def test_a_new_lab_says_what_to_type_for_the_targets_that_it_has(*, cloud: bool) -> None:
    terminal, text = screen()
    lab = LabState(description=draw(4, cloud=cloud), folder=Path("/f"))
    show_lab(lab, terminal)
    assert "gpuprov preview --target onprem" in text.getvalue()
    assert ("`. ./aws.env` first" in text.getvalue()) is cloud
    assert ("gpuprov preview --target cloud" in text.getvalue()) is cloud


def test_both_views_are_json_and_a_lab_without_a_cloud_says_so() -> None:
    told = json.loads(json.dumps(lab_body(STATUS)))
    assert told["cloud"]["instances"][1] == {
        "id": "i-2",
        "private_address": "10.7.0.6",
        "public_address": None,
        "power": "off",
    }
    drawn = draw(4)
    assert drawn.cloud is not None
    told = json.loads(json.dumps(lab_body(LabState(description=drawn, folder=Path("/f")))))
    assert told["cloud"]["account"] == drawn.cloud.account
    assert lab_body(LabState(description=draw(4, cloud=False), folder=Path("/f")))["cloud"] is None
