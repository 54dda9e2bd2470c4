"""What tests/conftest.py promises, shown on small test files, each run by a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

CASES = Path(__file__).resolve().parent.parent / "cases" / "architecture" / "strictness.yaml"


def load_cases() -> list[Any]:
    cases = yaml.safe_load(CASES.read_text())
    return [pytest.param(case, id=case["why"]) for case in cases]


@pytest.mark.parametrize("case", load_cases())
@pytest.mark.timeout(120)
def test_a_run_ends_as_promised(case: dict[str, Any], tmp_path: Path, checkout: Path) -> None:
    (tmp_path / "conftest.py").write_text((checkout / "tests" / "conftest.py").read_text())
    ini = f"[pytest]\npythonpath = {checkout / 'tests' / 'builders'}\nmarkers =\n"
    markers = ("lab", "slow", "network", "live", "matrix")
    (tmp_path / "pytest.ini").write_text(ini + "".join(f" {marker}: x\n" for marker in markers))
    (tmp_path / "test_case.py").write_text(case["test"])
    environment = os.environ | {
        "GPUPROV_TRACE": "1",
        "SSH_AUTH_SOCK": "/nowhere",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    argv = (sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), *case.get("options", ()))
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == case["status"], done.stdout + done.stderr
    assert [words for words in case["says"] if words not in done.stdout] == [], done.stdout
