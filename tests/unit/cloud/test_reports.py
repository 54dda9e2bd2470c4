"""Public reports about AWS and the engine, by their id."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from gpuprov.cloud.decide.login import user_data
from gpuprov.cloud.errors import translate
from gpuprov.cloud.events import Complaint, change_of
from gpuprov.cloud.secrets import secrets_variables
from gpuprov.cloud.state import INSTANCE
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.resource import ResourceAction

REPORTS = yaml.safe_load((Path(__file__).parents[2] / "cases" / "reports" / "cloud.yaml").read_text(encoding="utf-8"))


def named(case: dict[str, Any]) -> str:
    return str(case["id"])


def urn(address: str) -> str:
    return f"urn:pulumi:train::gpuprov-aws::{INSTANCE}::{address}"


@pytest.mark.parametrize("case", REPORTS["errors"], ids=named)
def test_what_is_told_of_an_error(case: dict[str, Any]) -> None:
    complaints = [Complaint(urn=urn(case["resource"]), text=case["text"])] if "text" in case else []
    (told,) = translate(complaints, case.get("printed", ""))
    code, address, words = case["expect"]
    assert (told.code, told.address) == (code, address)
    assert words in told.summary
    assert case["hint"] in told.hint


@pytest.mark.parametrize("case", REPORTS["user_data"], ids=named)
def test_user_data_is_measured_in_bytes_before_anything_is_made(case: dict[str, Any]) -> None:
    wide = case.get("wide", 0)
    frame = len(user_data("train-a", ["k"]).encode()) - 1
    key = "ü" * wide + "k" * (case["bytes"] - frame - 2 * wide)
    if case["fits"]:
        assert len(user_data("train-a", [key]).encode()) == case["bytes"]
    else:
        with pytest.raises(GpuprovError, match=rf"GP-SPEC-005 .* {case['bytes']} bytes"):
            user_data("train-a", [key])


@pytest.mark.parametrize("case", REPORTS["values"], ids=named)
def test_what_is_shown_of_a_changed_value(case: dict[str, Any]) -> None:
    old, new = (SimpleNamespace(inputs=case[side]) for side in ("old", "new"))
    meta: Any = SimpleNamespace(
        urn=urn("instance.train-a"), type=INSTANCE, old=old, new=new,
        detailed_diff={case["path"]: None}, diffs=[], keys=()
    )  # fmt: skip
    found = change_of(meta, ResourceAction.UPDATE)
    assert found.changes == (case["shown"],)
    assert [word for word in case.get("never", ()) if word in str(found)] == []


@pytest.mark.parametrize("case", REPORTS["passphrases"], ids=named)
def test_a_passphrase_that_is_given_counts_also_an_empty_one(tmp_path: Path, case: dict[str, Any]) -> None:
    place = StackPlace(name="train", folder=tmp_path, environment={}, region="us-east-1")
    given = secrets_variables(place, case["variables"], None)
    made = tmp_path / "passphrase"
    assert made.exists() is case["made"]
    assert given == ({"PULUMI_CONFIG_PASSPHRASE_FILE": str(made)} if case["made"] else {})
