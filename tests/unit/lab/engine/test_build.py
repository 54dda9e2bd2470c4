from pathlib import Path

import pytest

from gpuprov.cloud.engine import engine_cache
from gpuprov.lab.engine.build import build, find_go, have_engine, module_go, module_version
from gpuprov.model.diagnostic import GpuprovError


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}


GO = """
case $1 in
env) echo go1.99.0;;
build) while [ "$1" != -o ]; do shift; done; printf '#!/bin/sh\\necho v3.274.1\\n' > "$2"; chmod +x "$2";;
esac"""


def test_an_engine_that_is_found_is_not_built(environment: dict[str, str], tmp_path: Path) -> None:
    program(engine_cache(environment), "echo v3.274.1")
    program(tmp_path / "bin" / "go", "exit 9")
    assert have_engine(environment).path == engine_cache(environment)


def test_without_one_it_is_built_with_go_and_found_then(environment: dict[str, str], tmp_path: Path) -> None:
    program(tmp_path / "bin" / "go", GO)
    with pytest.raises(GpuprovError):
        have_engine(environment, make=False)
    found = have_engine(environment)
    assert (found.path, found.version, found.origin) == (engine_cache(environment), "3.274.1", "cache")
    assert [path.name for path in engine_cache(environment).parent.iterdir()] == ["pulumi"]


def test_a_build_that_fails_is_one_error_with_three_ways(environment: dict[str, str], tmp_path: Path) -> None:
    program(tmp_path / "bin" / "go", "case $1 in env) echo go1.99.0;; build) exit 1;; esac")
    with pytest.raises(GpuprovError) as error:
        have_engine(environment)
    (found,) = error.value.diagnostics
    assert found.code == "GP-CLOUD-001"
    for way in ("on PATH", "GPUPROV_PULUMI", "install Go"):
        assert way in found.hint
    assert "exit status 1" in found.detail
    assert list(engine_cache(environment).parent.iterdir()) == []


def test_a_named_engine_that_does_not_work_is_not_built_over(environment: dict[str, str], tmp_path: Path) -> None:
    program(tmp_path / "bin" / "go", GO)
    with pytest.raises(GpuprovError) as error:
        have_engine(environment | {"GPUPROV_PULUMI": str(tmp_path / "nothing")})
    assert "no such file" in error.value.diagnostics[0].detail
    assert not engine_cache(environment).exists()


VERSIONS = {"go1.26.6": True, "go1.26.5": False, "go1.19.8": False, "go1.27": True, "go2.0.0": True, "devel": False}


@pytest.mark.parametrize("version", VERSIONS)
def test_go_must_be_new_enough_for_the_module(environment: dict[str, str], tmp_path: Path, version: str) -> None:
    go = program(tmp_path / "bin" / "go", f"echo {version}")
    found = find_go(environment)
    assert (found == go) == VERSIONS[version]
    if not VERSIONS[version]:
        assert version in str(found)
        assert "1.26.6" in str(found)


def test_no_go_says_so(environment: dict[str, str], tmp_path: Path) -> None:
    assert "not on PATH" in str(find_go(environment | {"PATH": str(tmp_path)}))


def test_a_build_that_is_cut_off_leaves_nothing(environment: dict[str, str], tmp_path: Path) -> None:
    go = program(tmp_path / "bin" / "go", 'while [ "$1" != -o ]; do shift; done; echo half > "$2"; kill -9 $$')
    with pytest.raises(Exception, match="SIGKILL"):
        build(go, engine_cache(environment), environment)
    assert list(engine_cache(environment).parent.iterdir()) == []


@pytest.mark.parametrize("text", ["", "module x\ngo one"])
def test_a_module_without_its_lines_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="go VERSION"):
        module_go(text)
    with pytest.raises(ValueError, match="does not pin"):
        module_version(text)
