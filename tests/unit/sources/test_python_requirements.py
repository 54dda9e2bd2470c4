"""uv against indexes on the loopback: what it chooses, for which hosts, and what is said when it cannot."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from python_shelf import Shelf

from gpuprov.lock.pool_input import FrameworkNeed, FrameworkRequest
from gpuprov.lock.types import LockedFramework
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.sources.python_requirements import Uv, offered_wheels, resolve_frameworks

slow = pytest.mark.slow  # starts another program: not for `make quick`


@pytest.fixture
def shelf(server: Any) -> Shelf:
    """The default index."""
    found = Shelf()
    server.reply = found.reply
    return found


@pytest.fixture
def uv(tmp_path: Path) -> Uv:
    """A uv with an empty cache."""
    return Uv(cache=tmp_path / "cache", environment={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})


def need(server: Any, *asked: str, source: str = "pypi", python: str = "3.11") -> FrameworkNeed:
    """What is asked for, each as `name` or `name==version`, from an index at the server."""
    split = [text.partition("==") for text in asked]
    requests = tuple(FrameworkRequest(name=n, specifier=f"{s}{v}", source=source) for n, s, v in split)
    indexes = {"pypi": f"{server.url}/simple", **({source: f"{server.url}/{source}"} if source != "pypi" else {})}
    return FrameworkNeed(python=python, platform="x86_64-manylinux_2_36", requests=requests, indexes=indexes)


def rows(packages: Sequence[LockedFramework]) -> dict[str, tuple[str, str]]:
    """Version and source of each package."""
    return {package.name: (package.version, package.source) for package in packages}


def refusal(wanted: FrameworkNeed, uv: Uv) -> Diagnostic:
    """The one diagnostic that a need ends in."""
    with pytest.raises(GpuprovError) as caught:
        resolve_frameworks(wanted, {}, uv)
    (found,) = caught.value.diagnostics
    return found


@slow
def test_the_newest_that_fit_are_chosen_with_what_they_need(server: Any, shelf: Shelf, uv: Uv) -> None:
    for version in ("2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0rc1"):
        shelf.add("torch", version, "sympy>=1.13")
    digest = shelf.add("sympy", "1.14.0")
    found = resolve_frameworks(need(server, "torch==2.9.*"), {}, uv)
    assert rows(found) == {"sympy": ("1.14.0", "pypi"), "torch": ("2.9.1", "pypi")}
    assert [(w.filename, w.sha256) for w in found[0].wheels] == [("sympy-1.14.0-py3-none-any.whl", digest)]
    assert rows(resolve_frameworks(need(server, "torch"), {}, uv))["torch"] == ("2.10.0", "pypi")


@slow
def test_versions_of_the_lock_before_stay_while_they_fit(server: Any, shelf: Shelf, uv: Uv) -> None:
    for version in ("2.9.0", "2.9.1", "2.10.0"):
        shelf.add("torch", version, "sympy>=1.13")
    for version in ("1.13.1", "1.14.0"):
        shelf.add("sympy", version)
    before = {"torch": "2.9.0", "sympy": "1.13.1", "gone": "1.0"}
    kept = resolve_frameworks(need(server, "torch==2.9.*"), before, uv)
    assert rows(kept) == {"sympy": ("1.13.1", "pypi"), "torch": ("2.9.0", "pypi")}
    moved = resolve_frameworks(need(server, "torch==2.10.*"), before, uv)
    assert rows(moved) == {"sympy": ("1.13.1", "pypi"), "torch": ("2.10.0", "pypi")}


@slow
def test_only_files_for_the_hosts_count(server: Any, shelf: Shelf, uv: Uv) -> None:
    tags = [
        "cp311-cp311-manylinux_2_28_x86_64", "cp311-abi3-manylinux_2_17_x86_64", "cp312-cp312-manylinux_2_28_x86_64",
        "cp311-cp311-manylinux_2_39_x86_64", "cp311-cp311-manylinux_2_28_aarch64", "cp311-cp311-win_amd64",
    ]  # fmt: skip
    for tag in tags:
        shelf.add("torch", "2.9.1", tag=tag)
    wanted = need(server, "torch")
    found = {
        (python, platform): [
            w.filename.removeprefix("torch-2.9.1-").removesuffix(".whl")
            for w in resolve_frameworks(replace(wanted, python=python, platform=platform), {}, uv)[0].wheels
        ]
        for python, platform in (("3.11", "x86_64-manylinux_2_36"), ("3.12", "x86_64-manylinux_2_39"))
    }
    assert found == {
        ("3.11", "x86_64-manylinux_2_36"): [tags[1], tags[0]],
        ("3.12", "x86_64-manylinux_2_39"): [tags[1], tags[2]],
    }


@slow
def test_a_package_comes_from_the_index_that_is_named_and_what_it_needs_from_the_default(
    server: Any, shelf: Shelf, uv: Uv
) -> None:
    variant = Shelf()
    variant.add("torch", "2.9.1+cu130", "sympy")
    variant.add("sympy", "9.9")
    shelf.add("torch", "2.9.1")
    shelf.add("sympy", "1.14.0")
    server.reply = lambda path, headers: (variant if path.startswith("/pytorch/") else shelf).reply(path, headers)
    found = resolve_frameworks(need(server, "torch==2.9.*", source="pytorch"), {}, uv)
    assert rows(found) == {"sympy": ("1.14.0", "pypi"), "torch": ("2.9.1+cu130", "pytorch")}
    assert found[1].wheels[0].filename == "torch-2.9.1+cu130-py3-none-any.whl"


@slow
def test_the_settings_of_the_user_change_nothing_that_is_chosen(
    server: Any, shelf: Shelf, uv: Uv, tmp_path: Path
) -> None:
    for version in ("2.9.0", "2.9.1", "2.10.0rc1"):
        shelf.add("torch", version)
    config = tmp_path / ".config" / "uv" / "uv.toml"
    config.parent.mkdir(parents=True)
    config.write_text('resolution = "lowest"\nprerelease = "allow"\nconstraint-dependencies = ["torch<2.9.1"]\n')
    more = {
        "UV_RESOLUTION": "lowest",
        "UV_PRERELEASE": "allow",
        "UV_CONSTRAINT": "/nowhere",
        "UV_CONFIG_FILE": str(config),
    }
    given = replace(uv, environment={**uv.environment, **more})
    assert rows(resolve_frameworks(need(server, "torch"), {}, given)) == {"torch": ("2.9.1", "pypi")}


@slow
def test_the_default_index_may_be_the_machines_own(server: Any, shelf: Shelf, uv: Uv) -> None:
    shelf.add("torch", "2.9.1")
    own = replace(uv, environment={**uv.environment, "UV_DEFAULT_INDEX": f"{server.url}/mirror"})
    wanted = replace(need(server, "torch"), indexes={})
    assert rows(resolve_frameworks(wanted, {}, own)) == {"torch": ("2.9.1", "pypi")}
    assert {path.split("/")[1] for path, _ in server.seen} == {"mirror"}


@slow
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("torch==99.*", ["only torch==2.9.1 is available", "the spec depends on torch==99.*"]),
        ("no-such-thing", ["no-such-thing was not found"]),
        ("flash-attn", ["no usable wheels"]),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reasons(
    server: Any, shelf: Shelf, uv: Uv, asked: str, words: list[str]
) -> None:
    shelf.add("torch", "2.9.1")
    shelf.wheels["flash-attn"] = {"flash_attn-2.8.3.tar.gz": b"a source archive"}
    found = refusal(need(server, asked), uv)
    assert found.code == "GP-LOCK-008"
    assert [word for word in words if word not in found.detail] == []
    assert "gpuprov-frameworks" not in found.detail


@slow
def test_an_index_that_cannot_be_read_is_told_without_a_login(server: Any, uv: Uv) -> None:
    server.reply = lambda *_: (403, {}, b"")
    host = server.url.removeprefix("http://")
    wanted = replace(need(server, "torch"), indexes={"pypi": f"http://ana:s3cr3t@{host}/simple"})
    found = refusal(wanted, uv)
    assert (found.code, "s3cr3t" in repr(found)) == ("GP-SRC-001", False)
    assert "403" in found.detail


@slow
@pytest.mark.parametrize("source", ["pypi", "site-a"])
def test_a_login_of_the_environment_is_given_to_its_index(server: Any, shelf: Shelf, uv: Uv, source: str) -> None:
    shelf.add("torch", "2.9.1")
    server.reply = lambda path, headers: shelf.reply(path, headers) if "authorization" in headers else (401, {}, b"")
    login = {"GPUPROV_LOGIN_" + source.upper().replace("-", "_"): "ana:s3cr3t:x"}
    wanted = need(server, "torch", source=source)
    assert "GPUPROV_LOGIN_NAME" in refusal(wanted, uv).hint
    given = replace(uv, cache=uv.cache / "other", environment={**uv.environment, **login})
    assert rows(resolve_frameworks(wanted, {}, given)) == {"torch": ("2.9.1", source)}
    assert {h["authorization"] for _, h in server.seen if "authorization" in h} == {"Basic YW5hOnMzY3IzdDp4"}


@slow
def test_what_is_locked_is_looked_for_again_without_what_it_needs(server: Any, shelf: Shelf, uv: Uv) -> None:
    shelf.add("torch", "2.9.1", "sympy")
    shelf.add("sympy", "1.14.0")
    wanted = need(server, "torch")
    locked = resolve_frameworks(wanted, {}, uv)
    shelf.add("torch", "2.10.0", "sympy")
    assert offered_wheels(wanted, locked, uv) == locked
    del shelf.wheels["sympy"]["sympy-1.14.0-py3-none-any.whl"]
    shelf.add("sympy", "1.15.0")
    answer = offered_wheels(wanted, locked, replace(uv, cache=uv.cache / "other"))
    assert "there is no version of sympy==1.14.0" in answer


def _program(folder: Path, script: str) -> str:
    path = folder / "uv"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@slow
@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("true", "FileNotFoundError"),
        ("echo '[[packages]' > pylock.toml", "TOMLDecodeError"),
        ("printf '[[packages]]\\nname = \"a\"\\n' > pylock.toml", "KeyError"),
        ('printf \'[[packages]]\\nname = "a"\\nversion = "1"\\nwheels = []\\n\' > pylock.toml', "a has no wheel"),
        ("printf 'packages = [1]\\n' > pylock.toml", "TypeError"),
        (
            """printf '[[packages]]\\nname = "a"\\nversion = "1"\\nwheels = [{name = "a.whl", hashes = {sha256 = "1"}}]\\n' > pylock.toml""",  # noqa: E501
            "is no sha256",
        ),
    ],
)
def test_an_answer_in_an_unknown_form_is_refused(server: Any, uv: Uv, tmp_path: Path, script: str, says: str) -> None:
    found = refusal(need(server, "a"), replace(uv, program=_program(tmp_path, script)))
    assert (found.code, says in found.summary) == ("GP-SRC-008", True)


def test_a_uv_that_cannot_be_run_is_told(server: Any, uv: Uv, tmp_path: Path) -> None:
    found = refusal(need(server, "a"), replace(uv, program=str(tmp_path / "gone")))
    assert (found.code, "No such file" in found.summary) == ("GP-SRC-008", True)
