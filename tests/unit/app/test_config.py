"""Settings of gpuprov itself: which layer wins, and every way in which one can be wrong."""

from pathlib import Path
from typing import Any

import pytest

from gpuprov.app.config import configure
from gpuprov.model.diagnostic import GpuprovError


def resolved(folder: Path, text: str | None, **layers: dict[str, str]) -> dict[str, tuple[str, str, str]]:
    found = configure(layers.get("flags", {}), environment(folder, text, layers.get("variables", {})))
    return {r.setting.name: (r.value, r.layer, r.place) for r in found.settings}


def environment(folder: Path, text: str | None, variables: dict[str, str]) -> dict[str, str]:
    if text is not None:
        (folder / "gpuprov").mkdir(exist_ok=True)
        (folder / "gpuprov" / "config.yaml").write_text(text)
    return {"HOME": "/home/ana", "XDG_CONFIG_HOME": str(folder), **variables}


def test_defaults(tmp_path: Path) -> None:
    assert resolved(tmp_path, None) == {
        "apt_lock_timeout": ("600", "default", ""),
        "cache": ("/home/ana/.cache/gpuprov", "default", ""),
        "colour": ("auto", "default", ""),
        "forks": ("32", "default", ""),
        "probe_timeout": ("60", "default", ""),
        "pulumi": ("", "default", ""),
        "reboot_timeout": ("1200", "default", ""),
        "source_timeout": ("30", "default", ""),
    }


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_file(tmp_path: Path) -> None:
    found = resolved(
        tmp_path,
        "# mine\nforks: 8\nprobe_timeout: 90\ncolour: never\n",
        variables={"GPUPROV_PROBE_TIMEOUT": "120", "GPUPROV_COLOUR": "always"},
        flags={"colour": "auto"},
    )
    assert found["forks"] == ("8", "file", f"{tmp_path}/gpuprov/config.yaml:2")
    assert found["probe_timeout"] == ("120", "variable", "GPUPROV_PROBE_TIMEOUT")
    assert found["colour"] == ("auto", "flag", "--colour")


def test_no_color_wins_over_the_file_and_not_over_our_own_variable(tmp_path: Path) -> None:
    text = "colour: always\n"
    assert resolved(tmp_path, text, variables={"NO_COLOR": "1"})["colour"] == ("never", "variable", "NO_COLOR")
    both = {"NO_COLOR": "1", "GPUPROV_COLOUR": "always"}
    assert resolved(tmp_path, text, variables=both)["colour"] == ("always", "variable", "GPUPROV_COLOUR")
    flag = resolved(tmp_path, text, variables={"NO_COLOR": "1"}, flags={"colour": "always"})["colour"]
    assert flag == ("always", "flag", "--colour")


def test_relative_paths_are_of_this_folder_and_none_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ana")
    assert resolved(tmp_path, None, flags={"cache": "c"})["cache"] == (f"{tmp_path}/c", "flag", "--cache")
    assert resolved(tmp_path, None, variables={"GPUPROV_CACHE": "~/c"})["cache"][0] == "/home/ana/c"
    assert resolved(tmp_path, "cache: ~/c\n")["cache"][0] == "/home/ana/c"


@pytest.mark.parametrize("text", ["", "# nothing\n\n", "---\n{}\n", "forks:\n"])
def test_a_file_that_sets_nothing(tmp_path: Path, text: str) -> None:
    assert resolved(tmp_path, text)["forks"] == ("32", "default", "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("forks: 0\n", [("GP-RUN-007", "forks", 1, 8, "0 is no number from 1 to 256")]),
        ("forks: 257\nprobe_timeout: 4\n", [
            ("GP-RUN-007", "forks", 1, 8, "257 is no number"), ("GP-RUN-007", "probe_timeout", 2, 16, "4 is no number"),
        ]),
        ("colour: blue\n", [("GP-RUN-007", "colour", 1, 9, "auto, always, never")]),
        ("cache: here\n", [("GP-RUN-007", "cache", 1, 8, "the path here is not absolute")]),
        ("cache: ''\n", [("GP-RUN-007", "cache", 1, 8, "the path is empty")]),
        ("forks: [8]\n", [("GP-RUN-007", "forks", 1, 8, "a list stands here")]),
        ("forcs: 8\n", [("GP-RUN-007", "", 1, 1, "did you mean forks?")]),
        ("driver: 580\n", [("GP-RUN-007", "", 1, 1, "driver belongs to stack.driver: the stack is the spec's")]),
        ("- a\n", [("GP-RUN-007", "", 1, 1, "a list stands here")]),
        ("forks: 8\nforks: 9\n", [("GP-DOC-003", "forks", 2, 1, "for a second time")]),
        ("forks: {\n", [("GP-DOC-002", "", 2, 1, "a value is missing here")]),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file(tmp_path: Path, text: str, found: list[tuple[Any, ...]]) -> None:
    with pytest.raises(GpuprovError) as caught:
        resolved(tmp_path, text)
    rows = [(d.code, d.address, d.span.line, d.span.column) for d in caught.value.diagnostics if d.span]
    assert rows == [row[:4] for row in found]
    for diagnostic, row in zip(caught.value.diagnostics, found, strict=True):
        assert row[4] in f"{diagnostic.summary} {diagnostic.hint}"


def test_every_layer_is_checked_also_one_that_loses(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as caught:
        resolved(tmp_path, "forks: a\n", variables={"GPUPROV_FORKS": "b"}, flags={"forks": "c"})
    assert [d.address for d in caught.value.diagnostics] == ["forks", "GPUPROV_FORKS", "--forks"]


def test_what_counts_is_handed_to_the_lower_rooms_and_nothing_else(tmp_path: Path) -> None:
    login = {"GPUPROV_LOGIN_SITE": "ana:secret"}  # no setting, and none of configure's business
    given = environment(tmp_path, "forks: 8\n", {"GPUPROV_CACHE": "/c", "GPUPROV_CACH": "/d", **login})
    found = configure({"colour": "never"}, given)
    assert found.variables == {"GPUPROV_CACHE": "/c", "GPUPROV_COLOUR": "never", "GPUPROV_FORKS": "8"}
    assert found.strangers == ("GPUPROV_CACH",)
