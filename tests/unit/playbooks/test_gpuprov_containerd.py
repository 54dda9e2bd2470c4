"""gpuprov_containerd in a process of its own, with a containerd that merges files as the real one of 1.6 does.

That one takes a plugin's tables from the last file that has any, whole, and forgets its own runtimes where a file names
one (1.6.20 of Debian 12, tried on a node of the lab, 2026-11-30); the real program is asked in tests/e2e.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils import gpuprov_toml as toml

Run = Callable[..., dict[str, Any]]
CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "playbooks" / "containerd.yaml").read_text(encoding="utf-8")
)
DAEMON = r"""#!/usr/bin/python3
import pathlib, sys, tomllib

def flat(value, at=""):
    for key, inner in value.items():
        name = f"{at}.{key!r}" if at else key
        if isinstance(inner, dict):
            yield f"[{name}]"
            yield from flat(inner, name)
        else:
            yield f"{key} = {str(inner).lower() if isinstance(inner, bool) else repr(inner)}"

def lines(value):
    plain = {k: v for k, v in value.items() if not isinstance(v, dict)}
    yield from flat(plain)
    for name, plugin in value.get("plugins", {}).items():
        yield f"[plugins.{name!r}]"
        yield from flat({k: v for k, v in plugin.items() if not isinstance(v, dict)})
        yield from flat({k: v for k, v in plugin.items() if isinstance(v, dict)}, f"plugins.{name!r}")

CRI = "io.containerd.grpc.v1.cri"
OWN = {"default_runtime_name": "runc", "runtimes": {"runc": {"runtime_type": "io.containerd.runc.v2", "options": {}}}}
read = {"version": 2, "disabled_plugins": [], "plugins": {}}
if sys.argv[1] == "--config":
    root = tomllib.loads(pathlib.Path(sys.argv[2]).read_text())
    files = [root]
    for pattern in root.get("imports", []):
        files += [tomllib.loads(p.read_text()) for p in sorted(pathlib.Path("/").glob(pattern.lstrip("/")))]
    for file in files:
        read = {**read, **file, "plugins": {**read["plugins"], **file.get("plugins", {})}}
given = read["plugins"].get(CRI, {})
read["plugins"][CRI] = {**given, "containerd": {**OWN, **given.get("containerd", {})}}
print("\n".join(lines(read)))
"""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the programs of a host; `calls` in it holds what systemctl was asked."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "containerd").write_text(DAEMON)
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def containerd(run_module: Run, host: Path) -> Run:
    def run(*, check: bool = False, **params: Any) -> dict[str, Any]:
        places = {"path": str(host / "etc" / "config.toml"), "backups": str(host / "backups")}
        return run_module("gpuprov_containerd", check=check, **{"runtime": "nvidia", **places, **params})

    return run


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_counts_is_the_merged_configuration(containerd: Run, host: Path, case: dict[str, Any]) -> None:
    folder = host / "etc"
    folder.mkdir()
    before = {name: text.replace("FOLDER", str(folder)) for name, text in case["files"].items()}
    for name, text in before.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    checked = containerd(check=True)
    assert {name: (folder / name).read_text() for name in before} == before
    done = containerd()
    if "refused" in case:
        assert case["refused"] in f"{done['gpuprov']['text']} {done['gpuprov']['detail']}"
        assert checked["gpuprov"] == done["gpuprov"]
        assert {name: (folder / name).read_text() for name in before} == before
        return
    assert (checked["changed"], done["changed"]) == (case["changed"], case["changed"])
    text = (folder / case["in"]).read_text()
    assert [words for words in case["holds"] if words not in text] == []
    assert containerd()["changed"] is False
    assert (host / "calls").exists() == case["changed"]
    if case["changed"]:
        assert containerd(runtime="", check=True)["changed"] is True
        assert containerd(runtime="")["changed"] is True
        left = {str(path.relative_to(folder)) for path in folder.rglob("*.toml")}
        assert left == set(before)
        assert {name: (folder / name).read_text() for name in before} == before
        assert containerd(runtime="")["changed"] is False


def test_before_containerd_is_there_a_look_foresees_the_change(
    run_module: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    params = {"runtime": "nvidia", "path": str(tmp_path / "c.toml"), "backups": str(tmp_path / "b")}
    assert run_module("gpuprov_containerd", check=True, **params)["changed"] is True
    assert "not installed" in run_module("gpuprov_containerd", **params)["gpuprov"]["text"]


@pytest.mark.parametrize(
    ("text", "version", "imports"),
    [
        ("", 1, []),
        ("version = 2\n", 2, []),
        ("imports = [\"/a/*.toml\",\n  'b.toml']\nversion = 3\n[x]\nversion = 9\n", 3, ["/a/*.toml", "b.toml"]),
        ('[plugins]\n  imports = ["/no"]\n', 1, []),
    ],
)
def test_what_is_read_of_a_configuration(text: str, version: int, imports: list[str]) -> None:
    assert (toml.version(text), toml.imports(text)) == (version, imports)


@pytest.mark.parametrize("text", ["version = 2\n", "version = 2\n[plugins]", "version = 3\n\n[debug]\n  level = 'x'\n"])
def test_our_lines_come_and_go_and_leave_the_rest(text: str) -> None:
    once = toml.with_block(text, "nvidia", "t", "/p")
    assert toml.with_block(once, "nvidia", "t", "/p") == once
    assert toml.without_block(once).rstrip("\n") == text.rstrip("\n")
