import errno
import os
import stat
from pathlib import Path

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.store import files
from gpuprov.store.files import make_folder, read_bytes, read_text, read_text_if_there, write_text


def codes(error: pytest.ExceptionInfo[GpuprovError]) -> list[str]:
    return [diagnostic.code for diagnostic in error.value.diagnostics]


def test_a_text_comes_back_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "gpuprov.lock"
    write_text(path, "Größe\n")
    write_text(path, "zwei\n")
    assert read_text(path) == "zwei\n"
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_the_mode_of_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o600)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    ("number", "word"), [(errno.ENOSPC, "make room"), (errno.EDQUOT, "make room"), (errno.EIO, "check")]
)
def test_a_failed_write_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, word: str
) -> None:
    path = tmp_path / "gpuprov.lock"
    path.write_text("old")

    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(GpuprovError) as error:
        write_text(path, "new")
    assert codes(error) == ["GP-DOC-007"]
    assert word in error.value.diagnostics[0].hint
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_into_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as error:
        write_text(tmp_path / "none" / "x", "text")
    assert codes(error) == ["GP-DOC-007"]
    make_folder(tmp_path / "none")
    write_text(tmp_path / "none" / "x", "text")


def test_a_folder_where_a_file_is_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(GpuprovError) as error:
        make_folder(tmp_path / "x" / "y")
    assert codes(error) == ["GP-DOC-007"]


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    for path, word in ((tmp_path / "missing", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(GpuprovError) as error:
            read_text(path)
        assert codes(error) == ["GP-DOC-001"]
        assert word in error.value.diagnostics[0].summary


def test_a_text_that_is_too_long_or_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"ok\nGr\xf6\xdfe\n")
    with pytest.raises(GpuprovError) as error:
        read_text(path)
    assert codes(error) == ["GP-DOC-002"]
    path.write_bytes(b"12345")
    assert read_text(path, limit=5) == "12345"
    with pytest.raises(GpuprovError) as error:
        read_text(path, limit=4)
    assert codes(error) == ["GP-DOC-003"]


def test_a_file_that_may_be_missing(tmp_path: Path) -> None:
    assert read_text_if_there(tmp_path / "missing") is None
    with pytest.raises(GpuprovError):
        read_text_if_there(tmp_path)


def test_bytes_come_back_and_trouble_has_the_askers_code(tmp_path: Path) -> None:
    path = tmp_path / "site.gpg"
    path.write_bytes(b"\x99\x00")
    assert read_bytes(path, code="GP-SRC-006", address="sources.site.key") == b"\x99\x00"
    for wrong, limit in ((tmp_path / "missing", 10), (path, 1)):
        with pytest.raises(GpuprovError) as error:
            read_bytes(wrong, code="GP-SRC-006", address="sources.site.key", limit=limit)
        assert codes(error) == ["GP-SRC-006"]
        assert error.value.diagnostics[0].address == "sources.site.key"
