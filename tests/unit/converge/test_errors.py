from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.converge.errors import diagnose
from gpuprov.converge.events import Kind, TaskEvent

LOG = Path("/runs/1/ansible-1/artifacts/play/stdout")
CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "converge" / "errors.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_failure_has_one_code_and_names_what_it_is_about(case: dict[str, Any]) -> None:
    event = TaskEvent(
        kind=Kind(case["kind"]),
        host="node-1",
        task="Write files",
        action=case.get("action", "gpuprov_files"),
        result=case["result"],
    )
    found = diagnose(event, log=LOG)
    assert (found.code, found.address) == (case["code"], "node-1")
    assert [word for word in case["words"] if word not in found.summary] == []
    assert case.get("hint", "") in found.hint
    assert "{" not in found.summary
    assert not found.summary.endswith(".")


def test_the_detail_is_the_end_of_a_long_log() -> None:
    log = "\n".join(f"line {number}" for number in range(100))
    ours = {"reason": "apt", "text": "failed", "detail": log}
    found = diagnose(TaskEvent(kind=Kind.FAILED, host="h", task="t", action="a", result={"gpuprov": ours}), log=LOG)
    assert found.detail.splitlines() == [f"line {number}" for number in range(80, 100)]


def test_a_failure_without_a_known_text_leads_to_the_log() -> None:
    event = TaskEvent(kind=Kind.FAILED, host="h", task="t", action="a", result={"msg": "something new"})
    assert str(LOG) in diagnose(event, log=LOG).hint
