"""Fetching from a server that is slow to please: conditional, again, with credentials, never printing them."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.fetch import Fetcher


def _fetcher(tmp_path: Path, **more: Any) -> Fetcher:
    given: dict[str, Any] = {"cache": tmp_path / "cache", "sleep": lambda _: None, "netrc_file": tmp_path / "netrc"}
    return Fetcher(**(given | more))


def _refusal(fetcher: Fetcher, url: str) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        fetcher.release(url, "test")
    (found,) = caught.value.diagnostics
    return found


def test_an_unchanged_file_is_not_sent_again(server: Any, tmp_path: Path) -> None:
    def reply(_: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        return (304, {}, b"") if headers.get("if-none-match") == '"1"' else (200, {"ETag": '"1"'}, b"content")

    server.reply = reply
    for _ in range(2):
        assert _fetcher(tmp_path).release(f"{server.url}/InRelease", "test") == b"content"
    assert [h.get("if-none-match") for _, h in server.seen] == [None, '"1"']


def test_a_damaged_copy_is_fetched_anew(server: Any, tmp_path: Path) -> None:
    server.reply = lambda *_: (200, {"ETag": '"1"'}, b"content")
    for damage in (None, b"", b"{}\ncontent", b"[1]\n"):
        for kept in (tmp_path / "cache" / "release").glob("*"):
            kept.write_bytes(damage if damage is not None else kept.read_bytes().replace(b"content", b"CONTENT"))
        assert _fetcher(tmp_path).release(f"{server.url}/InRelease", "test") == b"content"
    assert [h.get("if-none-match") for _, h in server.seen] == [None] * 4


def test_what_is_not_there_is_none(server: Any, tmp_path: Path) -> None:
    assert _fetcher(tmp_path).release(f"{server.url}/InRelease", "test") is None
    assert len(server.seen) == 1
    assert _fetcher(tmp_path).release((tmp_path / "gone").as_uri(), "test") is None


def test_a_passing_fault_is_tried_again_and_a_lasting_one_is_told(server: Any, tmp_path: Path) -> None:
    server.reply = lambda *_: (200, {}, b"late") if len(server.seen) == 3 else (503, {}, b"")
    waits: list[float] = []
    assert _fetcher(tmp_path, sleep=waits.append).release(f"{server.url}/x", "test") == b"late"
    assert waits == [1.0, 2.0]
    server.reply = lambda *_: (503, {}, b"")
    found = _refusal(_fetcher(tmp_path), f"{server.url}/x")
    assert (found.code, "HTTP status 503" in found.summary, len(server.seen)) == ("GP-SRC-001", True, 6)


def test_a_cut_transfer_is_tried_again(server: Any, tmp_path: Path) -> None:
    server.reply = lambda *_: (200, {"Content-Length": "7"} if len(server.seen) == 1 else {}, b"whole")
    assert _fetcher(tmp_path).release(f"{server.url}/x", "test") == b"whole"


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    found = _refusal(_fetcher(tmp_path, tries=1), "http://127.0.0.1:9/InRelease")
    assert (found.code, found.detail) == ("GP-SRC-001", "http://127.0.0.1:9/InRelease")
    assert "refused" in found.summary


def test_only_three_schemes_are_read(tmp_path: Path) -> None:
    assert "'ftp' is not http, https or file" in _refusal(_fetcher(tmp_path), "ftp://example/x").summary


def test_credentials_are_sent_and_never_shown(server: Any, tmp_path: Path) -> None:
    server.reply = lambda _, headers: (200, {}, b"in") if headers.get("authorization") else (401, {}, b"")
    host = server.url.removeprefix("http://")
    assert _fetcher(tmp_path).release(f"http://ana:s3cr3t@{host}/x", "test") == b"in"
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ana password s3cr3t\n")
    assert _fetcher(tmp_path).release(f"{server.url}/x", "test") == b"in"
    assert {h["authorization"] for _, h in server.seen} == {"Basic YW5hOnMzY3IzdA=="}
    server.reply = lambda *_: (403, {}, b"")
    found = _refusal(_fetcher(tmp_path), f"http://ana:s3cr3t@{host}/x?token=s3cr3t")
    assert found.code == "GP-SRC-001"
    assert "s3cr3t" not in repr(found)
    assert ("netrc" in found.hint, "GPUPROV_LOGIN_TEST" in found.hint) == (True, True)


def test_a_login_of_the_environment_goes_before_the_netrc(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = lambda _, headers: (200, {}, headers.get("authorization", "none").encode())
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login bob password other\n")
    monkeypatch.setenv("GPUPROV_LOGIN_SITE_A", "ana:s3cr3t:x")
    sent = {name: _fetcher(tmp_path).release(f"{server.url}/{name}", name) for name in ("site-a", "site-a/main", "b")}
    own, other = b"Basic YW5hOnMzY3IzdDp4", b"Basic Ym9iOm90aGVy"
    assert sent == {"site-a": own, "site-a/main": own, "b": other}
    monkeypatch.setenv("GPUPROV_LOGIN_TEST", "s3cr3t")
    found = _refusal(_fetcher(tmp_path), f"{server.url}/x")
    assert ("GPUPROV_LOGIN_TEST is not USER:PASSWORD" in found.summary, "s3cr3t" in repr(found)) == (True, False)


def test_a_redirect_takes_no_password_along(server: Any, tmp_path: Path) -> None:
    other = server.url.replace("127.0.0.1", "localhost")
    server.reply = lambda path, _: (302, {"Location": f"{other}/y"}, b"") if path == "/x" else (200, {}, b"y")
    host = server.url.removeprefix("http://")
    assert _fetcher(tmp_path).release(f"http://ana:s3cr3t@{host}/x", "test") == b"y"
    assert ["authorization" in headers for _, headers in server.seen] == [True, False]


def test_a_proxy_of_the_source_is_used(server: Any, tmp_path: Path) -> None:
    server.reply = lambda path, _: (200, {}, path.encode())
    fetcher = _fetcher(tmp_path, proxies={"http": server.url})
    assert fetcher.release("http://mirror.invalid/InRelease", "test") == b"http://mirror.invalid/InRelease"


def test_a_broken_netrc_is_told_without_its_content(server: Any, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ana passwort s3cr3t\n")
    found = _refusal(_fetcher(tmp_path), f"{server.url}/x")
    assert (found.code, "s3cr3t" in repr(found), "line 1" in found.summary) == ("GP-SRC-001", False, True)


def test_files_come_by_digest_from_the_first_address_that_has_them(server: Any, tmp_path: Path) -> None:
    data = b"list"
    digest = hashlib.sha256(data).hexdigest()
    server.reply = lambda path, _: (200, {}, data) if path == "/plain" else (404, {}, b"")
    urls = (f"{server.url}/by-hash", f"{server.url}/plain")
    for _ in range(2):
        path = _fetcher(tmp_path).by_digest(urls, "test", sha256=digest, size=len(data))
        assert path.read_bytes() == data
    assert [path for path, _ in server.seen] == ["/by-hash", "/plain"]


@pytest.mark.parametrize("sent", [b"LIST", b"lis", b"list and much more"])
def test_a_file_that_is_not_the_signed_one_is_refused_and_not_kept(server: Any, tmp_path: Path, sent: bytes) -> None:
    server.reply = lambda *_: (200, {}, sent)
    with pytest.raises(GpuprovError, match="GP-SRC-004"):
        _fetcher(tmp_path).by_digest((f"{server.url}/x",), "test", sha256=hashlib.sha256(b"list").hexdigest(), size=4)
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_told(server: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    server.reply = lambda *_: (200, {"ETag": '"1"'}, b"content")
    assert _refusal(_fetcher(tmp_path), f"{server.url}/x").code == "GP-DOC-007"
