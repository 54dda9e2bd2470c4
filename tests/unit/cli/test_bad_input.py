"""The table of bad input: one clear error each, the right status, and nothing written."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cli.main import main

CASES = Path(__file__).parents[2] / "cases" / "bad-input"
GOOD = """\
apiVersion: gpuprov/v1
name: t
os: debian-12
stack: {driver: {version: "580.*"}}
pools: {a: {gpu: none, onprem: {group: a}}}
targets: {onprem: {inventory: inventory/site.yml}}
"""


def cases(name: str, *marks: pytest.MarkDecorator) -> list[Any]:
    table = yaml.safe_load((CASES / name).read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"], marks=marks) for case in table]


@pytest.mark.parametrize("case", cases("offline.yaml") + cases("inventory.yaml", pytest.mark.slow))
def test_bad_input_gives_one_clear_error_and_writes_nothing(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if "spec" in case:
        Path("gpuprov.yaml").write_text(case["spec"].replace("{good}", GOOD), encoding="utf-8")
    for name, text in case.get("files", {}).items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    status = main(case["argv"])
    shown = capsys.readouterr()
    assert status == case["status"], shown.err
    assert f"[{case['code']}]" in shown.err
    assert [word for word in case["words"] if word not in shown.err] == [], shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
