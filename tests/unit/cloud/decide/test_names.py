import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.names import bucket_name, group_name, role_name, shorten

NAMES = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?", fullmatch=True)
REGIONS = st.sampled_from(["us-east-1", "ap-southeast-5", "us-gov-west-1", "cn-northwest-1"])
ACCOUNT = "111122223333"


@given(NAMES, NAMES, REGIONS)
def test_a_buckets_name_is_one_that_s3_takes(spec: str, storage: str, region: str) -> None:
    name = bucket_name(spec, storage, ACCOUNT, region)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", name)
    assert not name.startswith(("xn--", "sthree-", "amzn-s3-demo-"))
    assert name.endswith(f"-{ACCOUNT}-{region}")
    assert name == bucket_name(spec, storage, ACCOUNT, region)


@given(NAMES, NAMES, NAMES, NAMES)
def test_two_storages_never_share_a_bucket(spec: str, storage: str, other: str, its: str) -> None:
    same = (spec, storage) == (other, its)
    assert (bucket_name(spec, storage, ACCOUNT, "r-1") == bucket_name(other, its, ACCOUNT, "r-1")) is same


@pytest.mark.parametrize(
    ("one", "two"), [(("a-b", "c"), ("a", "b-c")), (("a.b", "c"), ("a-b", "c")), (("a", "b_c"), ("a", "b-c"))]
)
def test_names_that_would_run_together_stay_apart(one: tuple[str, str], two: tuple[str, str]) -> None:
    assert bucket_name(*one, ACCOUNT, "us-east-1") != bucket_name(*two, ACCOUNT, "us-east-1")


def test_a_short_bucket_name_is_plain() -> None:
    assert bucket_name("train", "data-sets", ACCOUNT, "us-east-1") == "train-data-sets-111122223333-us-east-1"
    assert bucket_name("xn--a", "b", ACCOUNT, "us-east-1").startswith("gp-xn--a-b-")


@given(NAMES, REGIONS)
def test_a_roles_name_fits_iam(spec: str, region: str) -> None:
    name = role_name(spec, region)
    assert re.fullmatch(r"[\w+=,.@-]{1,64}", name)
    assert name != role_name(spec + "x", region)


def test_a_groups_name_holds_no_colon() -> None:
    assert group_name("train:image:ml") == "gpuprov-train-image-ml"


def test_shortening_keeps_texts_apart() -> None:
    assert shorten("abc", 10) == "abc"
    long, other = shorten("a" * 300, 40), shorten("a" * 301, 40)
    assert (len(long), len(other)) == (40, 40)
    assert long != other
