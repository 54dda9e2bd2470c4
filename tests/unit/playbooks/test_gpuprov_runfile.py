"""The uninstaller of a driver from a .run file in the transaction's own script, run by a shell."""

import subprocess
from pathlib import Path

import pytest
from ansible.module_utils import gpuprov_runfile as runfile
from ansible.module_utils.gpuprov_unit import script

GOOD = 'rm "$0"'
"""What a real one does last: it deletes itself."""


def run(folder: Path, uninstaller: str, *, fetch: str = "true") -> tuple[str, str, str]:
    """The result, the log, and who said what; apt's place is taken by programs that say their name."""
    program = folder / "nvidia-uninstall"
    program.write_text(f'#!/bin/sh\necho "uninstall $*" >>{folder}/said\n{uninstaller}\n')
    program.chmod(0o755)
    commands = runfile.commands(str(program), ["sh", "-c", f"echo fetch >>{folder}/said; {fetch}"])
    text = script(folder, [*commands, ["sh", "-c", f"echo install >>{folder}/said"]])
    subprocess.run(["/bin/sh", "-c", text], check=False)
    log = (folder / "log").read_text()
    return (folder / "result.json").read_text(), log, (folder / "said").read_text()


def test_files_are_fetched_before_the_driver_goes_and_packages_come_last(tmp_path: Path) -> None:
    result, _, said = run(tmp_path, GOOD)
    assert '"status": 0' in result
    assert said.splitlines() == ["fetch", "uninstall --silent", "install"]


def test_nothing_goes_when_a_file_cannot_be_fetched(tmp_path: Path) -> None:
    result, log, said = run(tmp_path, GOOD, fetch="exit 100")
    assert '"status": 100' in result
    assert said.splitlines() == ["fetch"]
    assert (
        runfile.blame(str(tmp_path / "nvidia-uninstall"), 100, log) == "the package transaction ended with status 100"
    )


@pytest.mark.parametrize(
    ("does", "words"),
    [("exit 3", "ended with status 3; see /var/log/nvidia-uninstall.log"), ("exit 0", "ended well, and")],
    ids=["it fails", "it does nothing, and says that all is well"],
)
def test_no_package_comes_onto_a_driver_that_did_not_go(tmp_path: Path, does: str, words: str) -> None:
    result, log, said = run(tmp_path, does)
    status = 3 if does == "exit 3" else 1
    assert f'"status": {status}' in result
    assert said.splitlines() == ["fetch", "uninstall --silent"]
    assert words in runfile.blame(str(tmp_path / "nvidia-uninstall"), status, log)


def test_one_that_is_gone_was_run_before(tmp_path: Path) -> None:
    assert runfile.commands(str(tmp_path / "nvidia-uninstall"), ["fetch"]) == []
    assert runfile.commands("", ["fetch"]) == []
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert runfile.commands(str(tmp_path / "link"), ["fetch"]) != []
