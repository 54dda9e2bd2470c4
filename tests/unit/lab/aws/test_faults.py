import re
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
import yaml
from lab_account import Cloud

from gpuprov.lab.aws import faults
from gpuprov.lab.aws.faults import Fault, FaultBook, fault_of
from gpuprov.lab.aws.request import ApiRequest

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

CASES = Path(__file__).parents[3] / "cases" / "lab" / "aws"
CALL = ApiRequest(service="ec2", action="CreateVpc")


@pytest.mark.parametrize("case", yaml.safe_load((CASES / "bad_faults.yaml").read_text()), ids=lambda c: str(c["sent"]))
def test_a_bad_fault_is_refused_with_what_is_wrong(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=re.escape(case["says"])):
        fault_of(case["sent"])


def test_a_fault_strikes_as_often_as_it_was_asked_to() -> None:
    book = FaultBook()
    book.add(Fault(kind="cut", action="CreateVpc", times=2))
    assert [book.struck("cut", CALL) is not None for _ in range(3)] == [True, True, False]
    assert book.listing()["faults"] == []


def test_a_fault_strikes_everything_from_its_first_call_on() -> None:
    book = FaultBook()
    number = book.add(fault_of({"kind": "expired", "action": "ec2:CreateVpc", "onwards": True}))
    other = ApiRequest(service="iam", action="CreateRole")
    assert [book.struck("expired", call) is not None for call in (other, CALL, other, CALL)] == [
        False,
        True,
        True,
        True,
    ]
    assert book.remove(number)
    assert book.struck("expired", CALL) is None


def test_a_fault_strikes_only_what_it_means() -> None:
    book = FaultBook()
    book.add(Fault(kind="denied", action="s3:*"))
    book.add(Fault(kind="capacity", zone="us-east-1a", type="p5.48xlarge"))
    assert book.struck("denied", CALL) is None
    assert book.struck("slow", CALL) is None
    assert book.struck("capacity", zone="us-east-1b", type="p5.48xlarge") is None
    assert book.struck("capacity", zone="us-east-1a", type="g6.xlarge") is None
    assert book.struck("capacity", zone="us-east-1a", type="p5.48xlarge") is not None


def test_a_fault_that_was_taken_back_strikes_no_more() -> None:
    book = FaultBook()
    first, second = book.add(Fault(kind="slow")), book.add(Fault(kind="cut"))
    assert book.remove(first)
    assert not book.remove(first)
    assert book.struck("slow", CALL) is None
    assert book.struck("cut", CALL) is not None
    assert book.remove(None)
    assert not book.remove(second)


def test_status_checks_fail_by_id_or_name_or_for_all() -> None:
    book = FaultBook()
    assert not book.impaired(("i-1", "train-a"))
    book.add(Fault(kind="status-check", instance="train-a"))
    assert book.impaired(("i-1", "train-a"))
    assert not book.impaired(("i-2", "train-b"))
    book.add(Fault(kind="status-check"))
    assert book.impaired(("i-2", "train-b"))


def test_faults_are_asked_for_and_taken_back_at_the_labs_own_door(paper_cloud: Cloud) -> None:
    with faults.fault(paper_cloud.endpoint, kind="capacity", zone="us-east-1a"):
        listed = faults.ask(paper_cloud.endpoint, faults.PATH)
        assert [(f["kind"], f["zone"]) for f in listed["faults"]] == [("capacity", "us-east-1a")]
    faults.add(paper_cloud.endpoint, Fault(kind="boot-off"))
    faults.clear(paper_cloud.endpoint)
    assert faults.ask(paper_cloud.endpoint, faults.PATH) == {"faults": [], "in_progress": []}


def test_the_door_refuses_what_is_no_fault_and_what_is_not_there(paper_cloud: Cloud) -> None:
    for path, body in ((faults.PATH, {"kind": "meteor"}), ("/gpuprov-lab/nothing", {})):
        with pytest.raises(HTTPError) as caught:
            faults.ask(paper_cloud.endpoint, path, method="POST", body=body)
        assert caught.value.code == (400 if path == faults.PATH else 404)
        assert b"error" in caught.value.read()
        caught.value.close()
