from xml.etree import ElementTree as ET

import pytest

from gpuprov.lab.aws.errors import corrected_status, error_body, lab_refusal


@pytest.mark.parametrize(
    ("service", "path"), [("ec2", "Errors/Error/"), ("s3", ""), ("iam", "Error/"), ("sts", "Error/")]
)
def test_an_error_has_the_form_of_its_service(service: str, path: str) -> None:
    root = ET.fromstring(error_body(service, "Denied", "a < b & c"))  # noqa: S314 (our own text)
    assert (root.findtext(f"{path}Code"), root.findtext(f"{path}Message")) == ("Denied", "a < b & c")


def test_a_status_is_corrected_where_ec2_answers_another() -> None:
    body = error_body("ec2", "InsufficientInstanceCapacity", "none").encode()
    assert corrected_status(400, body) == 500
    assert corrected_status(200, body) == 200
    assert corrected_status(400, error_body("ec2", "InvalidVpcID.NotFound", "none").encode()) == 400


def test_what_only_the_lab_refuses_says_so() -> None:
    assert str(lab_refusal("no")) == "Unsupported: gpuprov lab: no"
