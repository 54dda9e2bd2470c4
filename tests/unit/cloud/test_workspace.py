import os
from pathlib import Path

import pytest

from gpuprov.cloud.workspace import find_stacks, load_program
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


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
