import re

from hypothesis import given
from hypothesis import strategies as st

from gpuprov.cloud.decide.tags import Owner, resource_id, tag_value, tags

OWNER = Owner(spec="train", stack="train")
ALLOWED = re.compile(r"[A-Za-z0-9 _.:/=+\-@]{0,256}")


@given(st.text(max_size=400))
def test_any_text_becomes_a_value_that_aws_takes(text: str) -> None:
    value = tag_value(text)
    assert ALLOWED.fullmatch(value)
    assert (value == text) is (ALLOWED.fullmatch(text) is not None)


@given(st.text(max_size=300), st.text(max_size=300))
def test_two_texts_are_two_values(one: str, two: str) -> None:
    assert (tag_value(one) == tag_value(two)) is (one == two)


@given(st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?", fullmatch=True).flatmap(lambda n: st.just((n, n, n))))
def test_the_longest_names_still_make_a_plain_id(names: tuple[str, str, str]) -> None:
    spec, storage, host = names
    owner = Owner(spec=spec, stack=f"{spec}:image:{host}")
    assert resource_id(owner, "volume", f"{storage}/{host}") == f"{owner.stack}/volume/{storage}/{host}"


def test_an_instance_is_called_as_its_host() -> None:
    assert tags(OWNER, "instance", "train-a", pool="ml") == {
        "Name": "train-a",
        "gpuprov:spec": "train",
        "gpuprov:id": "train/instance/train-a",
        "gpuprov:pool": "ml",
    }


def test_what_serves_every_pool_names_none() -> None:
    assert tags(OWNER, "vpc", "main") == {"Name": "train", "gpuprov:spec": "train", "gpuprov:id": "train/vpc/main"}
    assert tags(OWNER, "bucket", "datasets")["Name"] == "train/datasets"
