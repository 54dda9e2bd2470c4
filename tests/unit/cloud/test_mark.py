from pathlib import Path

import pytest

from gpuprov.cloud.events import NewResource
from gpuprov.cloud.mark import clear_mark, read_mark, set_mark


def resource(name: str) -> NewResource:
    return NewResource(urn=f"urn::{name}", type="t", parent="p", provider="q", inputs={"tags": {"gpuprov:id": name}})


def test_a_mark_keeps_what_failed_until_it_is_cleared(tmp_path: Path) -> None:
    path = tmp_path / "train.unfinished"
    assert read_mark(path) == ()
    set_mark(path, ())
    assert (path.exists(), read_mark(path)) == (True, ())
    set_mark(path, [resource("a")])
    set_mark(path, [resource("b"), resource("a")])
    assert sorted(one.urn for one in read_mark(path)) == ["urn::a", "urn::b"]
    assert read_mark(path)[0].inputs["tags"] == {"gpuprov:id": read_mark(path)[0].urn.removeprefix("urn::")}
    assert path.stat().st_mode & 0o777 == 0o600
    clear_mark(path)
    clear_mark(path)
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "[", "[{}]", '[{"urn": 1}]', "3"])
def test_a_mark_of_no_form_is_still_a_mark(tmp_path: Path, text: str) -> None:
    path = tmp_path / "train.unfinished"
    path.write_text(text)
    assert read_mark(path) == ()
    assert path.exists()
