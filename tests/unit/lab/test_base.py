from dataclasses import replace
from pathlib import Path

import pytest

from gpuprov.lab import base
from gpuprov.lab.archive import Archive
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import Progress, ignore_progress

ARCHIVE = Archive(os="debian-12", codename="bookworm", suites=(("http://a.example/", "bookworm"),), options=())


def test_the_digest_changes_with_everything_that_is_in_a_base(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {base.recipe_digest(ARCHIVE)}
    assert base.recipe_digest(replace(ARCHIVE)) in digests
    digests.add(base.recipe_digest(replace(ARCHIVE, suites=(("http://b.example/", "bookworm"),))))
    digests.add(base.recipe_digest(replace(ARCHIVE, options=(("Acquire::http::Proxy", "x"),))))
    digests.add(base.recipe_digest(replace(ARCHIVE, codename="trixie")))
    monkeypatch.setattr(base, "PACKAGES", (*base.PACKAGES, "more"))
    digests.add(base.recipe_digest(ARCHIVE))
    monkeypatch.setattr(base, "RECIPE", base.RECIPE + 1)
    digests.add(base.recipe_digest(ARCHIVE))
    assert len(digests) == 6


def test_bases_are_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert base.cache_folder() == tmp_path / "gpuprov/lab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert base.cache_folder() == tmp_path / ".cache/gpuprov/lab"


def test_a_base_in_the_cache_is_taken_and_a_failed_build_leaves_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(base, "read_archive", lambda _: ARCHIVE)
    place = base.cache_folder() / f"base-debian-12-{base.recipe_digest(ARCHIVE)}"

    def fail(archive: Archive, place: Path, report: object) -> None:
        place.with_name(f".{place.name}.building").mkdir()
        raise GpuprovError

    monkeypatch.setattr(base, "_build", fail)
    with pytest.raises(GpuprovError):
        base.ensure_base("debian-12", ignore_progress)
    assert not place.exists()
    place.mkdir()
    assert base.ensure_base("debian-12", ignore_progress) == place


def test_a_step_reports_its_lines_and_a_failed_one_its_last() -> None:
    told: list[Progress] = []
    base.BuildStep(archive=ARCHIVE, report=told.append).run(["sh", "-c", "echo one; echo two >&2"])
    assert [(said.phase, said.text) for said in told] == [("base", "one"), ("base", "two")]
    with pytest.raises(GpuprovError) as caught:
        base.BuildStep(archive=ARCHIVE, report=ignore_progress).run(["sh", "-c", "echo why; exit 9"])
    assert "status 9" in caught.value.diagnostics[0].summary
    assert caught.value.diagnostics[0].detail == "why"


def test_nothing_of_an_identity_stays_in_a_base(tmp_path: Path) -> None:
    gone = ["etc/ssh/ssh_host_rsa_key", "etc/machine-id", "var/lib/dbus/machine-id", "etc/resolv.conf", "etc/hostname"]
    for name in [*gone, "etc/ssh/sshd_config"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    base.remove_identity(tmp_path)
    base.remove_identity(tmp_path)
    assert [str(place.relative_to(tmp_path)) for place in tmp_path.rglob("*") if place.is_file()] == [
        "etc/ssh/sshd_config"
    ]
