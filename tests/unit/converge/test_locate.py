from pathlib import Path

import pytest

from gpuprov.converge.locate import find_playbooks
from gpuprov.model.diagnostic import GpuprovError


def site(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "site.yml").write_text("---\n")
    return folder


def test_a_checkout_has_them_beside_the_package() -> None:
    assert (find_playbooks() / "roles").is_dir()


def test_a_wheel_s_own_come_first(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "gpuprov"
    beside = site(package.parent / "playbooks")
    assert find_playbooks(package) == beside
    inside = site(package / "_data" / "playbooks")
    assert find_playbooks(package) == inside


def test_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as caught:
        find_playbooks(tmp_path / "gpuprov")
    assert caught.value.diagnostics[0].code == "GP-INT-001"
