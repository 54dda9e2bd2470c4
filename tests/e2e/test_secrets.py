"""A host with planted secrets: none is in a recording, a snapshot, a report, or anything that gpuprov says."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.lab, pytest.mark.timeout(180)]

TESTS = Path(__file__).parents[1]
CASES = TESTS / "cases" / "sharing" / "secrets.yaml"


def test_no_planted_secret_travels(tmp_path: Path) -> None:
    program = [sys.executable, str(TESTS / "builders" / "planted_host.py"), str(CASES), str(tmp_path)]
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", *program], capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    statuses = [line.removeprefix("status ") for line in said.splitlines() if line.startswith("status ")]
    assert statuses[0] == "0", said
    assert set(statuses[1:]) <= {"0", "7", "10"}, said
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"recording.yaml", "shared.yaml", "snapshot.json", "cli.yaml", "html"}
    texts = {str(path): path.read_text(encoding="utf-8") for path in files} | {"what was said": said}
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))
    found = [(secret, where) for secret in cases["secrets"] for where, text in texts.items() if secret in text]
    assert found == []
    # What stands beside the secrets did travel: the files were looked at.
    full = (tmp_path / "out" / "recording.yaml").read_text(encoding="utf-8")
    snapshot = (tmp_path / "out" / "snapshot.json").read_text(encoding="utf-8")
    assert [word for word in cases["kept"] if word not in full + snapshot] == []
    assert [secret for secret in cases["secrets"] if secret not in CASES.read_text(encoding="utf-8")] == []
