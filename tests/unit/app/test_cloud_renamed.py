"""A spec renamed in its folder: the stack of the old name is not forgotten."""

import shutil
from pathlib import Path

import pytest
from ground_builders import SPEC, make_site
from state_files import state_file

from gpuprov.app.cloud_renamed import refuse_renamed
from gpuprov.app.cloud_site import place_of

WHOLE = Path(__file__).parents[2] / "cases" / "cloud" / "states" / "whole.json"


def stand(folder: Path, name: str) -> None:
    file = state_file(place_of(make_site(folder), {})).with_name(f"{name}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(WHOLE, file)


def test_the_stack_of_the_old_name_refuses_a_second_one(tmp_path: Path) -> None:
    stand(tmp_path, "before")
    (refused,) = refuse_renamed(make_site(tmp_path))
    assert refused.code == "GP-CLOUD-027"
    assert "`before`" in refused.summary
    assert "instance." in refused.detail
    assert refused.span is not None
    assert refused.span.line == 2


@pytest.mark.parametrize("name", ["site", "site-image-train"])
def test_the_specs_own_stack_and_its_builders_refuse_nothing(tmp_path: Path, name: str) -> None:
    stand(tmp_path, name)
    assert refuse_renamed(make_site(tmp_path)) == ()


def test_a_second_spec_of_the_folder_has_its_own_stack(tmp_path: Path) -> None:
    stand(tmp_path, "before")
    (tmp_path / "other.yaml").write_text(SPEC.replace("name: site", 'name: "before"  # the other'), encoding="utf-8")
    assert refuse_renamed(make_site(tmp_path)) == ()


def test_no_stack_at_all(tmp_path: Path) -> None:
    assert refuse_renamed(make_site(tmp_path)) == ()
