from pathlib import Path

import pytest

from gpuprov.lab import settings


@pytest.fixture(autouse=True)
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kernel = tmp_path / "proc"
    for name, value in (("net/ipv4/ip_forward", 0), ("fs/inotify/max_user_instances", 128)):
        (kernel / name).parent.mkdir(parents=True)
        (kernel / name).write_text(f"{value}\n")
    monkeypatch.setattr(settings, "_KERNEL", kernel)
    monkeypatch.setattr(settings, "ROOT", tmp_path / "labs")
    return kernel


def values() -> dict[str, int]:
    return {name: settings.read(name) for name in settings.NEEDED}


BEFORE = {"net.ipv4.ip_forward": 0, "fs.inotify.max_user_instances": 128}


def test_the_last_lab_gives_back_what_the_first_one_found() -> None:
    settings.raise_settings("one")
    assert values() == settings.NEEDED
    settings.raise_settings("two")
    settings.restore_settings("one")
    assert values() == settings.NEEDED
    settings.restore_settings("two")
    assert values() == BEFORE
    settings.restore_settings("two")
    assert values() == BEFORE


def test_raising_twice_does_not_forget_what_was_there_first() -> None:
    settings.raise_settings("one")
    settings.raise_settings("one")
    settings.restore_settings("one")
    assert values() == BEFORE


def test_what_was_enough_already_is_neither_set_nor_given_back() -> None:
    settings.write("fs.inotify.max_user_instances", 100_000)
    settings.raise_settings("one")
    assert settings.read("fs.inotify.max_user_instances") == 100_000
    settings.restore_settings("one")
    assert settings.read("fs.inotify.max_user_instances") == 100_000
    assert settings.read("net.ipv4.ip_forward") == 0


def test_what_somebody_else_set_meanwhile_stays() -> None:
    settings.raise_settings("one")
    settings.write("fs.inotify.max_user_instances", 9999)
    settings.restore_settings("one")
    assert settings.read("fs.inotify.max_user_instances") == 9999
