import json
from pathlib import Path
from typing import Any

import pytest

from gpuprov.lab.aws.plugin import compare, table, wire

CASES = json.loads((Path(__file__).parents[4] / "cases/lab/aws/plugin/changes.json").read_text(encoding="utf-8"))
UNCONDITIONAL = [
    row
    for token in sorted(table.implemented())
    for name, row in table.properties(token).items()
    if "." not in name and isinstance(row.replaces, bool)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_only_what_really_changed_is_a_change(case: dict[str, Any]) -> None:
    found = compare.changes(case["type"], case["old"], case["new"])
    assert {change.path: f"{change.kind.value}{' replaces' if change.replaces else ''}" for change in found} == case[
        "changes"
    ]


@pytest.mark.parametrize("row", UNCONDITIONAL, ids=lambda row: f"{row.type.rpartition(':')[2]}.{row.property}")
def test_a_changed_property_does_what_its_row_says(row: table.Property) -> None:
    (change,) = compare.changes(row.type, {row.property: "1"}, {row.property: "2"})
    assert change.replaces is row.replaces
    dropped = compare.changes(row.type, {row.property: "1"}, {})
    assert bool(dropped) is not row.kept


def test_a_name_of_the_program_is_free_only_once_the_old_one_is_gone() -> None:
    role = "aws:iam/role:Role"
    assert compare.needs_deletion_first(role, {"name": "train", wire.DEFAULTS: ["path"]})
    assert not compare.needs_deletion_first(role, {"name": "train-1a2b3c4", wire.DEFAULTS: ["name", "path"]})
    assert not compare.needs_deletion_first("aws:ec2/vpc:Vpc", {"cidrBlock": "10.0.0.0/16", wire.DEFAULTS: []})
