"""gpuprov_files in a process of its own, on a folder of the test."""

import getpass
import grp
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

Run = Callable[..., dict[str, Any]]
ME = {"owner": getpass.getuser(), "group": grp.getgrgid(os.getgid()).gr_name}


@pytest.fixture
def files(run_module: Run, tmp_path: Path) -> Run:
    def run(*, check: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        for file in params.get("files", ()):
            file.update({key: value for key, value in ME.items() if key not in file})
        places = {"record": str(tmp_path / "state" / "owned.json"), "backups": str(tmp_path / "backups")}
        return run_module("gpuprov_files", check=check, diff=diff, **{**places, **params})

    return run


def test_a_file_is_written_with_its_folder_and_mode_and_recorded(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "motd"
    wanted = {"path": str(path), "text": "grüße {{ x }}\n", "mode": "0640"}
    first = files(files=[wanted])
    assert (first["changed"], first["changes"]) == (True, [str(path)])
    assert path.read_text(encoding="utf-8") == "grüße {{ x }}\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(json.loads((tmp_path / "state" / "owned.json").read_text())["files"]) == [str(path)]
    second = files(files=[wanted])
    assert (second["changed"], second["restarts"]) == (False, [])


@pytest.fixture
def systemctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that writes down its calls and fails for the unit `broken`."""
    programs, calls = tmp_path / "programs", tmp_path / "calls"
    programs.mkdir()
    for name, text in (
        ("systemctl", f'#!/bin/sh\necho "$@" >>{calls}\ncase "$*" in *broken*) echo "Job failed"; exit 1;; esac\n'),
        ("journalctl", "#!/bin/sh\necho 'unable to configure the daemon'\n"),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return calls


def test_units_restart_in_the_same_step_and_only_when_their_file_changed(
    files: Run, tmp_path: Path, systemctl: Path
) -> None:
    wanted = {"path": str(tmp_path / "x"), "text": "t", "restarts": ["docker"]}
    assert files(check=True, files=[wanted])["restarts"] == ["docker"]
    assert not systemctl.exists()
    files(files=[wanted])
    files(files=[wanted])
    assert systemctl.read_text() == "try-restart docker\n"


def test_a_unit_that_does_not_come_up_is_told_with_its_log(files: Run, tmp_path: Path, systemctl: Path) -> None:
    result = files(files=[{"path": str(tmp_path / "x"), "text": "t", "restarts": ["broken"]}])
    assert result["failed"] is True
    assert result["gpuprov"]["path"] == "broken"
    assert "unable to configure the daemon" in result["gpuprov"]["detail"]


def test_check_mode_says_the_same_and_touches_nothing(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "motd"
    path.write_text("old\n")
    wanted = {"path": str(path), "text": "new\n"}
    checked = files(check=True, diff=True, files=[wanted])
    assert path.read_text() == "old\n"
    assert {p.name for p in tmp_path.iterdir()} == {"motd"}
    real = files(diff=True, files=[wanted])
    assert [row["before"] for row in real["diff"]] == ["old\n"]
    assert (checked["changed"], checked["changes"], checked["diff"]) == (real["changed"], real["changes"], real["diff"])


def test_a_mode_alone_is_a_change(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "x"
    files(files=[{"path": str(path), "text": "t"}])
    path.chmod(0o600)
    assert files(files=[{"path": str(path), "text": "t"}])["changed"] is True
    assert path.stat().st_mode & 0o777 == 0o644


def test_what_was_there_is_saved_once_and_comes_back(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "motd"
    path.write_text("the operator's\n")
    path.chmod(0o600)
    files(files=[{"path": str(path), "text": "ours 1\n"}])
    path.write_text("edited by hand\n")
    files(files=[{"path": str(path), "text": "ours 2\n"}])
    assert files(delete=[str(path)])["changed"] is True
    assert path.read_text() == "the operator's\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / "state" / "owned.json").read_text())["files"] == {}


def test_a_file_of_ours_alone_is_deleted_and_that_once(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "x"
    files(files=[{"path": str(path), "text": "t"}])
    assert files(check=True, delete=[str(path)])["changed"] is True
    assert path.exists()
    assert files(delete=[str(path)])["changed"] is True
    assert not path.exists()
    assert files(delete=[str(path)])["changed"] is False


def test_a_shared_file_keeps_foreign_keys_mode_and_is_not_owned(files: Run, tmp_path: Path) -> None:
    """A17, with the backup of what was there."""
    path = tmp_path / "daemon.json"
    path.write_text('{"data-root": "/d", "runtimes": {"kata": {"path": "k"}}}')
    path.chmod(0o600)
    wanted = {"path": str(path), "text": '{"runtimes": {"nvidia": {"path": "n"}}}', "merge": "json"}
    assert files(files=[wanted])["changed"] is True
    assert json.loads(path.read_text()) == {
        "data-root": "/d",
        "runtimes": {"kata": {"path": "k"}, "nvidia": {"path": "n"}},
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "state" / "owned.json").exists()
    backup = tmp_path / "backups" / str(path).lstrip("/")
    assert "nvidia" not in backup.read_text()
    assert files(files=[wanted])["changed"] is False


def shared(path: Path, **more: Any) -> dict[str, Any]:
    return {"path": str(path), "validate": "", "reload": ["docker"], **more}


def test_our_keys_are_taken_out_of_a_shared_file_and_the_engine_reads_it_anew(
    files: Run, tmp_path: Path, systemctl: Path
) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"data-root": "/d", "runtimes": {"nvidia": {"path": "old"}}}')
    path.chmod(0o600)
    ours = {"path": str(path), "text": '{"runtimes": {"nvidia": {"path": "n"}}}', "merge": "json"}
    files(files=[ours])
    files(files=[ours])
    path.write_text(path.read_text().replace("/d", "/e"))
    checked = files(check=True, take_back=[shared(path)])
    assert (checked["changed"], json.loads(path.read_text())["data-root"]) == (True, "/e")
    done = files(take_back=[shared(path)])
    assert (done["changed"], done["changes"]) == (True, [str(path)])
    assert json.loads(path.read_text()) == {"data-root": "/e", "runtimes": {"nvidia": {"path": "old"}}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert systemctl.read_text() == "-q is-active docker\ntry-reload-or-restart docker\n"
    assert json.loads((tmp_path / "state" / "merged.json").read_text()) == {}
    assert files(take_back=[shared(path)])["changed"] is False


def test_a_shared_file_that_gpuprov_made_goes_when_nothing_else_is_in_it(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    ours = {"path": str(path), "text": '{"runtimes": {"nvidia": {"path": "n"}}}', "merge": "json"}
    files(files=[ours])
    assert files(take_back=[shared(path, reload=[], validate="gpuprov-no-such-program %s")])["changed"] is True
    assert not path.exists()
    assert not (tmp_path / "backups" / str(path).lstrip("/")).exists()


def test_keys_that_were_there_before_are_not_ours(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"a": 1}')
    files(files=[{"path": str(path), "text": '{"a": 1}', "merge": "json"}])
    assert files(take_back=[shared(path)])["changed"] is False
    assert path.read_text() == '{"a": 1}'


def test_a_runtime_that_the_engine_uses_by_default_is_not_taken_from_it(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"default-runtime": "nvidia"}')
    files(files=[{"path": str(path), "text": '{"runtimes": {"nvidia": {"path": "n"}}}', "merge": "json"}])
    before = path.read_text()
    result = files(take_back=[shared(path)])
    assert "default-runtime is nvidia" in result["gpuprov"]["text"]
    assert path.read_text() == before


def test_what_is_left_of_a_shared_file_is_checked_by_its_program(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"b": 1}')
    files(files=[{"path": str(path), "text": '{"a": 1}', "merge": "json"}])
    result = files(take_back=[shared(path, validate="grep -q nowhere %s")])
    assert "refuses the new file" in result["gpuprov"]["text"]
    assert json.loads(path.read_text()) == {"a": 1, "b": 1}


def test_a_broken_shared_file_stays_as_it_is(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"a": 1,}')
    result = files(files=[{"path": str(path), "text": "{}", "merge": "json"}])
    assert result["failed"] is True
    assert result["gpuprov"]["reason"] == "file"
    assert "not valid JSON" in result["gpuprov"]["text"]
    assert path.read_text() == '{"a": 1,}'


@pytest.mark.parametrize(
    ("command", "after", "notes"),
    [
        ("test -s %s", "new", 0),
        ("grep -q nowhere %s", "old", 0),
        ("sh -c 'echo unknown flag: --validate; exit 125' %s", "new", 1),
        ("gpuprov-no-such-program %s", "old", 0),
    ],
)
def test_a_file_is_checked_before_it_replaces_the_old_one(
    files: Run,
    tmp_path: Path,
    command: str,
    after: str,
    notes: int,
) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    result = files(files=[{"path": str(path), "text": "new", "validate": command}])
    assert result.get("failed", False) is (after == "old")
    assert path.read_text() == after
    assert len(result.get("notes", [])) == notes
    assert not list(tmp_path.glob(".x.*"))


def test_volatile_keys_alone_write_nothing(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "owned.json"
    files(files=[{"path": str(path), "text": '{"a": 1, "when": "x"}'}])
    wanted = {"path": str(path), "text": '{"a": 1, "when": "y"}', "volatile": ["when"]}
    assert files(files=[wanted])["changed"] is False
    assert '"x"' in path.read_text()


def test_a_link_is_followed_and_a_folder_refused(files: Run, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    files(files=[{"path": str(link), "text": "new"}])
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert files(files=[{"path": str(tmp_path), "text": "x"}])["failed"] is True


def test_an_unknown_owner_is_told_by_name(files: Run, tmp_path: Path) -> None:
    result = files(files=[{"path": str(tmp_path / "x"), "text": "t", "owner": "nobody-such"}])
    assert "nobody-such" in result["gpuprov"]["text"]


def test_folders_of_the_record_go_whole(files: Run, tmp_path: Path) -> None:
    folder = tmp_path / "transactions"
    (folder / "a").mkdir(parents=True)
    assert files(check=True, delete_folders=[str(folder)])["changed"] is True
    assert folder.exists()
    assert files(delete_folders=[str(folder)])["changed"] is True
    assert not folder.exists()
    assert files(delete_folders=[str(folder)])["changed"] is False


def test_no_text_of_a_host_s_file_is_returned_unless_a_diff_is_asked_for(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "daemon.json"
    path.write_text('{"proxies": {"http-proxy": "http://u:s3cr3t@p"}}')
    wanted = {"path": str(path), "text": '{"a": 1}', "merge": "json"}
    results = [files(files=[wanted]), files(delete=[str(path)])]
    results.append(files(files=[{**wanted, "validate": "grep -q nowhere %s"}]))
    assert [result for result in results if "s3cr3t" in json.dumps(result)] == []
    assert "diff" not in results[0]


def test_a_kept_file_is_written_only_where_it_is_absent(files: Run, tmp_path: Path) -> None:
    path = tmp_path / "installed.json"
    wanted = {"path": str(path), "text": "[]", "keep": True}
    assert files(check=True, files=[wanted])["changed"] is True
    assert files(files=[wanted])["changed"] is True
    path.write_text('["tree"]')
    assert files(files=[wanted])["changed"] is False
    assert path.read_text() == '["tree"]'


def test_a_mark_stays_until_somebody_takes_it_away(files: Run, tmp_path: Path) -> None:
    mark, wanted = tmp_path / "mark", {"path": str(tmp_path / "x"), "text": "t"}
    assert files(check=True, files=[wanted], pending=str(mark))["changed"] is True
    assert not mark.exists()
    files(files=[wanted], pending=str(mark))
    assert mark.exists()
    lost = files(files=[wanted], pending=str(mark))
    assert (lost["changed"], lost["changes"], len(lost["notes"])) == (True, [], 1)
    mark.unlink()
    assert files(files=[wanted], pending=str(mark))["changed"] is False
    assert not mark.exists()


def test_a_file_that_fails_does_not_keep_the_units_of_others_from_restarting(
    files: Run, tmp_path: Path, systemctl: Path
) -> None:
    good = {"path": str(tmp_path / "a"), "text": "t", "restarts": ["docker"]}
    bad = {"path": str(tmp_path / "b"), "text": "t", "restarts": ["other"], "validate": "grep -q nowhere %s"}
    assert files(files=[good, bad])["gpuprov"]["path"] == str(tmp_path / "b")
    assert systemctl.read_text() == "try-restart docker\n"


def test_a_broken_record_is_told_with_its_path(files: Run, tmp_path: Path) -> None:
    record, path = tmp_path / "state" / "owned.json", tmp_path / "x"
    record.parent.mkdir()
    record.write_text("")
    result = files(files=[{"path": str(path), "text": "t"}])
    assert (result["failed"], result["gpuprov"]["reason"]) == (True, "record")
    assert result["gpuprov"]["path"] == str(record)
    assert not path.exists()


def test_after_a_hand_back_what_is_there_is_saved_anew(files: Run, tmp_path: Path) -> None:
    path, backups = tmp_path / "daemon.json", tmp_path / "backups"
    path.write_text('{"a": 1}')
    wanted = {"path": str(path), "text": '{"b": 2}', "merge": "json"}
    files(files=[wanted])
    files(delete_folders=[str(backups)], backups="")
    path.write_text('{"c": 3}')
    files(files=[wanted])
    assert (backups / str(path).lstrip("/")).read_text() == '{"c": 3}'
