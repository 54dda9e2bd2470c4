from pathlib import Path

import pytest

from gpuprov.cloud.events import NewResource
from gpuprov.cloud.mark import clear_mark, is_marked, read_mark, set_mark
from gpuprov.cloud.types import StackPlace


def resource(name: str) -> NewResource:
    return NewResource(urn=f"urn::{name}", type="t", parent="p", provider="q", inputs={"tags": {"gpuprov:id": name}})


@pytest.fixture
def place(tmp_path: Path) -> StackPlace:
    return StackPlace(name="train", folder=tmp_path, environment={}, region="us-east-1")


def test_a_mark_keeps_what_failed_until_it_is_cleared(place: StackPlace) -> None:
    assert (is_marked(place), read_mark(place)) == (False, ())
    set_mark(place, ())
    assert (is_marked(place), read_mark(place)) == (True, ())
    set_mark(place, [resource("a")])
    set_mark(place, [resource("b"), resource("a")])
    assert sorted(one.urn for one in read_mark(place)) == ["urn::a", "urn::b"]
    assert read_mark(place)[0].inputs["tags"] == {"gpuprov:id": read_mark(place)[0].urn.removeprefix("urn::")}
    assert (place.folder / "train.unfinished").stat().st_mode & 0o777 == 0o600
    clear_mark(place)
    clear_mark(place)
    assert not is_marked(place)


@pytest.mark.parametrize("text", ["", "[", "[{}]", '[{"urn": 1}]', "3"])
def test_a_mark_of_no_form_is_still_a_mark(place: StackPlace, text: str) -> None:
    (place.folder / "train.unfinished").write_text(text)
    assert (is_marked(place), read_mark(place)) == (True, ())
