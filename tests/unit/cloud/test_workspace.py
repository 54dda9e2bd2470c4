import os
import threading
from pathlib import Path

import pytest

from gpuprov.cloud.workspace import find_stacks, load_program, passphrase_variables
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


def test_a_passphrase_is_made_once_private_and_long(tmp_path: Path) -> None:
    first = passphrase_variables(tmp_path, {})
    path = tmp_path / "passphrase"
    text = path.read_text()
    assert first == {"PULUMI_CONFIG_PASSPHRASE_FILE": str(path)}
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(text) >= 32
    assert passphrase_variables(tmp_path, {}) == first
    assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["passphrase"]


def test_two_that_make_it_at_once_get_the_same(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        passphrase_variables(tmp_path, {})

    threads = [threading.Thread(target=make) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [one.name for one in tmp_path.iterdir()] == ["passphrase"]
    assert (tmp_path / "passphrase").stat().st_nlink == 1


@pytest.mark.parametrize("name", ["PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"])
def test_the_users_own_passphrase_counts(tmp_path: Path, name: str) -> None:
    assert passphrase_variables(tmp_path, {name: ""}) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_passphrase_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as error:
        passphrase_variables(tmp_path / "missing", {})
    assert error.value.diagnostics[0].code == "GP-DOC-007"


def test_the_wheels_own_stacks_come_before_those_beside_it(tmp_path: Path) -> None:
    package = tmp_path / "gpuprov"
    with pytest.raises(GpuprovError) as error:
        find_stacks(package)
    assert error.value.diagnostics[0].code == "GP-INT-001"
    for folder in (tmp_path / "stacks", package / "_data" / "stacks"):
        (folder / "aws").mkdir(parents=True)
        (folder / "aws" / "program.py").touch()
        assert find_stacks(package) == folder


def test_the_program_is_loaded_without_leaving_its_names_behind() -> None:
    import sys  # noqa: PLC0415

    before = {
        name: sys.modules.get(name) for name in ("program", "network", "storage", "fleet", "identity", "document")
    }
    load_program({})
    assert {name: sys.modules.get(name) for name in before} == before
    assert str(find_stacks() / "aws") not in sys.path
    assert os.environ.get("PULUMI_CONFIG_PASSPHRASE") is None
