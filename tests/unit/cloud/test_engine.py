import os
from pathlib import Path

import pytest

from gpuprov.cloud.engine import OLDEST, PINNED, engine_cache, find_engine
from gpuprov.lab.engine.build import module_version
from gpuprov.model.diagnostic import GpuprovError


def pulumi(path: Path, says: str = "echo v3.300.0") -> Path:
    """A program that says it is an engine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_the_named_one_comes_first_then_path_then_the_cache(tmp_path: Path, environment: dict[str, str]) -> None:
    cached = pulumi(engine_cache(environment), "echo v3.274.1")
    assert find_engine(environment) == find_engine(environment | {"GPUPROV_PULUMI": ""})
    assert (find_engine(environment).path, find_engine(environment).origin) == (cached, "cache")
    on_path = pulumi(tmp_path / "bin" / "pulumi", "echo v3.280.0-alpha.1")
    found = find_engine(environment)
    assert (found.path, found.version, found.origin) == (on_path, "3.280.0-alpha.1", "PATH")
    named = pulumi(tmp_path / "mine")
    found = find_engine(environment | {"GPUPROV_PULUMI": str(named)})
    assert (found.path, found.version, found.origin) == (named, "3.300.0", "GPUPROV_PULUMI")


def test_one_on_path_that_is_too_old_gives_way_to_the_cache(tmp_path: Path, environment: dict[str, str]) -> None:
    pulumi(tmp_path / "bin" / "pulumi", "echo v3.100.0")
    cached = pulumi(engine_cache(environment))
    assert find_engine(environment).path == cached


def test_the_newest_of_the_cache_counts_where_the_pinned_one_is_not_there(environment: dict[str, str]) -> None:
    for version in ("3.290.0", "3.300.0", "3.299.9"):
        pulumi(engine_cache(environment, version), f"echo v{version}")
    assert find_engine(environment).version == "3.300.0"


def test_no_engine_is_one_error_with_three_ways(environment: dict[str, str]) -> None:
    with pytest.raises(GpuprovError) as error:
        find_engine(environment)
    (found,) = error.value.diagnostics
    assert found.code == "GP-CLOUD-001"
    for way in ("on PATH", "GPUPROV_PULUMI", "make setup"):
        assert way in found.hint


REFUSED = {
    "too old": ("echo v3.205.9", "it is version 3.205.9"),
    "another major version": ("echo v4.0.0", "it is version 4.0.0"),
    "no engine at all": ("echo hello", "said: hello"),
    "fails": ("echo broken >&2; exit 3", "status 3 and said: broken"),
    "silent": ("exit 0", "said: nothing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_named_and_does_not_work_is_not_replaced(
    tmp_path: Path, environment: dict[str, str], name: str
) -> None:
    says, words = REFUSED[name]
    pulumi(engine_cache(environment))
    with pytest.raises(GpuprovError) as error:
        find_engine(environment | {"GPUPROV_PULUMI": str(pulumi(tmp_path / "mine", says))})
    (found,) = error.value.diagnostics
    assert found.code == "GP-CLOUD-001"
    assert words in found.detail
    assert str(tmp_path / "mine") in found.summary


def test_a_named_file_that_is_missing_or_no_program_is_told(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "text").write_text("hello")
    for name, words in (("nothing", "no such file"), ("text", "permission denied")):
        if name == "text" and os.access(tmp_path / "text", os.X_OK):
            continue
        with pytest.raises(GpuprovError) as error:
            find_engine(environment | {"GPUPROV_PULUMI": str(tmp_path / name)})
        assert words in error.value.diagnostics[0].detail


def test_the_pinned_version_is_the_modules_and_not_too_old(checkout: Path) -> None:
    text = (checkout / "gpuprov" / "lab" / "engine" / "go.mod").read_text(encoding="utf-8")
    assert module_version(text) == PINNED
    assert tuple(int(part) for part in PINNED.split(".")) >= OLDEST
