"""Whole repositories: opened, verified, read; and refused for every reason there is."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pysequoia
import pytest

from gpuprov.lock.index import Relation
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Progress
from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.index import SourceIndex, open_index

Stanzas = Callable[..., str]


def _open(*definitions: SourceDefinition, cache: Path, now: datetime, **more: Any) -> SourceIndex:
    return open_index(definitions, arch="amd64", cache=cache, now=now, **more)


def _refusal(definition: SourceDefinition, tmp_path: Path, now: datetime) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        _open(definition, cache=tmp_path / "cache", now=now).close()
    (found,) = caught.value.diagnostics
    assert found.address == "sources.test"
    assert not list((tmp_path / "cache").glob("index/*")), "nothing unverified may be kept"
    return found


@pytest.mark.parametrize("suffix", [".xz", ".gz", ""])
@pytest.mark.parametrize("detached", [False, True])
def test_a_signed_flat_repository_is_read(
    repository: Any,
    make_stanza: Stanzas,
    tmp_path: Path,
    now: datetime,
    suffix: str,
    detached: bool,  # noqa: FBT001
) -> None:
    text = make_stanza(
        "nvidia-open", "580.95.05-1", "Depends: libcuda1 (>= 580), a | b:any\nProvides: driver (= 580)\n"
    )
    repository.publish(text + "\n" + make_stanza("libcuda1"), suffix=suffix, detached=detached)
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        (found,) = index.stanzas("nvidia-open")
        assert (found.version, found.row.source, found.row.filename) == (
            "580.95.05-1",
            "test",
            "nvidia-open_580.95.05-1_amd64.deb",
        )
        assert found.depends == ((Relation("libcuda1", ">=", "580"),), (Relation("a"), Relation("b")))
        assert (found.pin, found.row.size, len(found.row.sha256)) == (500, 10, 64)
        assert index.providers("driver") == ("nvidia-open",)
        assert index.names() == ["libcuda1", "nvidia-open"]
        assert index.stanzas("gone") == ()
        assert index.mention("nvidia-open") < index.mention("libcuda1") < index.mention("gone")


def test_a_suite_with_components_is_read(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    repository.suite, repository.components = "stable", ("main",)
    repository.publish(make_stanza("a"))
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        assert index.names() == ["a"]
    found = _refusal(repository.definition(components=("extra",)), tmp_path / "other", now)
    assert (found.code, "extra/binary-amd64/Packages" in found.summary) == ("GP-SRC-005", True)


def test_backports_get_the_priority_that_their_release_asks_for(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(
        make_stanza("a"), head="Origin: Site\nSuite: stable\nNotAutomatic: yes\nButAutomaticUpgrades: yes\n"
    )
    for given, expected in ((None, 100), (990, 990)):
        with _open(repository.definition(priority=given), cache=tmp_path / "cache", now=now) as index:
            assert index.stanzas("a")[0].pin == expected
            assert index.selectors == {"test": "o=Site,a=stable"}


def test_what_is_unchanged_is_not_parsed_again(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"))
    steps: list[Progress] = []
    for _ in range(2):
        _open(repository.definition(), cache=tmp_path / "cache", now=now, report=steps.append).close()
    (kept,) = (tmp_path / "cache" / "index").iterdir()
    assert [s.subject for s in steps if s.subject] == ["test", "test"]
    repository.publish(make_stanza("b"))
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        assert index.names() == ["b"]
    assert kept.exists()


def test_a_damaged_cache_is_built_anew(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    repository.publish(make_stanza("a"))
    for damage in (b"", b"garbage" * 1000):
        _open(repository.definition(), cache=tmp_path / "cache", now=now).close()
        (kept,) = (tmp_path / "cache" / "index").iterdir()
        kept.write_bytes(damage)
        (file,) = (tmp_path / "cache" / "files").iterdir()
        file.write_bytes(damage)
        with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
            assert index.names() == ["a"]


def test_a_cache_that_is_damaged_inside_is_taken_away(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish("\n".join(make_stanza(f"name-{number}") for number in range(400)))
    _open(repository.definition(), cache=tmp_path / "cache", now=now).close()
    (kept,) = (tmp_path / "cache" / "index").iterdir()
    data = kept.read_bytes()
    for ask in (lambda index: index.stanzas("name-1"), lambda index: index.providers("name-1"), SourceIndex.names):
        kept.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
        opened = _open(repository.definition(), cache=tmp_path / "cache", now=now)
        with opened as index, pytest.raises(GpuprovError, match="GP-SRC-009"):
            ask(index)
        assert not kept.exists()
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        assert len(index.stanzas("name-1")) == 1


def test_a_parsed_index_needs_its_files_no_more(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"))
    _open(repository.definition(), cache=tmp_path / "cache", now=now).close()
    for path in [*(tmp_path / "cache" / "files").iterdir(), *repository.folder.glob("Packages*")]:
        path.unlink()
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        assert index.names() == ["a"]


def test_sources_are_asked_at_once(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime, server: Any
) -> None:
    repository.publish(make_stanza("a"))
    together = threading.Barrier(3, timeout=20)

    def reply(path: str, _: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        name = path.rpartition("/")[2]
        if name == "InRelease":
            together.wait()
        return 200, {}, (repository.folder / name).read_bytes()

    server.reply = reply
    sources = [repository.definition(name, url=f"{server.url}/{name}") for name in ("c", "a", "b")]
    with _open(*sources, cache=tmp_path / "cache", now=now) as index:
        assert [s.row.source for s in index.stanzas("a")] == ["a", "b", "c"]


def test_the_order_of_the_sources_changes_nothing(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"))
    one, two = repository.definition("one"), repository.definition("two")
    archive = repository.definition("os/stable", on_host=False)
    for order in ([one, two, archive], [two, archive, one]):
        with _open(*order, cache=tmp_path / "cache", now=now) as index:
            assert [(s.rank, s.row.source) for s in index.stanzas("a")] == [(0, "os/stable"), (1, "one"), (2, "two")]
    assert len(list((tmp_path / "cache" / "index").iterdir())) == 1


def test_text_outside_the_signature_is_dropped(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"), head="Date: Mon, 30 Nov 2026 10:00:00 UTC\n")
    path = repository.folder / "InRelease"
    forged = b"NotAutomatic: yes\nSHA256:\n " + b"0" * 64 + b" 1 Packages\n\n"
    path.write_bytes(forged + path.read_bytes() + b"\n" + forged)
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        assert index.stanzas("a")[0].pin == 500


def test_a_changed_index_is_refused(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    repository.publish(make_stanza("a"))
    path = repository.folder / "InRelease"
    path.write_bytes(path.read_bytes().replace(b"10:00:00", b"11:00:00"))
    found = _refusal(repository.definition(), tmp_path, now)
    assert (found.code, "no good signature" in found.summary) == ("GP-SRC-002", True)


def test_another_key_is_refused(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    for detached in (False, True):
        repository.publish(make_stanza("a"), signer=pysequoia.Tsk.generate("other"), detached=detached)
        found = _refusal(repository.definition(), tmp_path, now)
        assert found.code == "GP-SRC-002"
        assert repository.key.extract_certificate().fingerprint.upper() in found.detail


def test_no_signature_is_refused(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    repository.publish(make_stanza("a"), detached=True)
    (repository.folder / "Release.gpg").unlink()
    assert _refusal(repository.definition(), tmp_path, now).code == "GP-SRC-002"
    (repository.folder / "InRelease").write_bytes((repository.folder / "Release").read_bytes())
    assert _refusal(repository.definition(), tmp_path, now).code == "GP-SRC-002"


def test_no_repository_at_all_is_said(repository: Any, tmp_path: Path, now: datetime) -> None:
    found = _refusal(repository.definition(), tmp_path, now)
    assert (found.code, "no Release" in found.summary) == ("GP-SRC-001", True)


def test_an_expired_key_is_refused_though_it_signed_while_it_was_good(
    repository: Any, make_stanza: Stanzas, tmp_path: Path
) -> None:
    repository.key = pysequoia.Tsk.generate("short", validity_seconds=3600)
    repository.publish(make_stanza("a"))
    today = datetime.now(UTC)
    _open(repository.definition(), cache=tmp_path / "cache", now=today).close()
    with pytest.raises(GpuprovError) as caught:
        _open(repository.definition(), cache=tmp_path / "cache", now=today + timedelta(hours=2))
    (found,) = caught.value.diagnostics
    assert (found.code, "expired on" in found.summary) == ("GP-SRC-007", True)


def test_one_good_key_of_several_is_enough(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"))
    other = bytes(pysequoia.Tsk.generate("other").extract_certificate())
    both = replace(repository.definition(), keys=other + repository.public)
    _open(both, cache=tmp_path / "cache", now=now).close()


def test_a_revoked_key_is_refused(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    repository.publish(make_stanza("a"))
    cert = repository.key.extract_certificate()
    revocation = cert.revoke(repository.key.certifier())
    revoked = pysequoia.Cert.from_bytes(bytes(cert) + bytes(revocation))
    assert revoked.is_revoked
    found = _refusal(repository.definition(keys=bytes(revoked)), tmp_path, now)
    assert (found.code, "revoked" in found.summary) == ("GP-SRC-007", True)


def test_an_expired_index_is_refused(repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime) -> None:
    head = "Date: Sat, 28 Nov 2026 02:53:00 UTC\nValid-Until: Mon, 30 Nov 2026 11:59:00 UTC\n"
    repository.publish(make_stanza("a"), head=head)
    found = _refusal(repository.definition(), tmp_path, now)
    assert (found.code, "expired on 2026-11-30 11:59 UTC" in found.summary) == ("GP-SRC-003", True)
    _open(repository.definition(), cache=tmp_path / "cache", now=now - timedelta(minutes=2)).close()
    _open(repository.definition(check_valid_until=False), cache=tmp_path / "cache", now=now).close()


def test_an_index_of_the_future_is_refused(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"), head="Date: Tue, 01 Dec 2026 12:01:00 UTC\n")
    found = _refusal(repository.definition(), tmp_path, now)
    assert (found.code, "which is yet to come" in found.summary) == ("GP-SRC-003", True)
    _open(repository.definition(), cache=tmp_path / "cache", now=now + timedelta(minutes=2)).close()


def test_a_list_that_is_not_the_signed_one_is_refused(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a", "1.0-1"), suffix="")
    path = repository.folder / "Packages"
    good = path.read_bytes()
    for bad in (good.replace(b"1.0-1", b"1.0-2"), good[:-1], good + b"\n"):
        path.write_bytes(bad)
        found = _refusal(repository.definition(), tmp_path, now)
        assert found.code == "GP-SRC-004"
    path.unlink()
    assert _refusal(repository.definition(), tmp_path, now).code == "GP-SRC-001"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Package: a\nVersion: 1\n", "stanza 1 lacks"),
        ("Package: a\nVersion: 1_0\nFilename: a.deb\n", "'1_0' is no Debian version"),
    ],
)
def test_a_broken_list_is_refused(repository: Any, tmp_path: Path, now: datetime, text: str, says: str) -> None:
    repository.publish(text)
    found = _refusal(repository.definition(), tmp_path, now)
    assert (found.code, says in found.summary) == ("GP-SRC-005", True)


def test_a_broken_dependency_is_told_when_the_package_is_asked_for(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a", "1", "Depends: b (~> 1)\n") + "\n" + make_stanza("c"))
    with _open(repository.definition(), cache=tmp_path / "cache", now=now) as index:
        assert len(index.stanzas("c")) == 1
        with pytest.raises(GpuprovError, match="GP-SRC-005"):
            index.stanzas("a")


def test_the_trouble_of_all_sources_is_told_at_once(
    repository: Any, make_stanza: Stanzas, tmp_path: Path, now: datetime
) -> None:
    repository.publish(make_stanza("a"))
    bad_key, gone = repository.definition("one", keys=b"no key"), repository.definition("two", url="file:///gone")
    with pytest.raises(GpuprovError) as caught:
        _open(bad_key, gone, repository.definition(), cache=tmp_path / "cache", now=now)
    assert [(d.code, d.address) for d in caught.value.diagnostics] == [
        ("GP-SRC-006", "sources.one"),
        ("GP-SRC-001", "sources.two"),
    ]
