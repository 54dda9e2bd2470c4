"""The house stands as AGENTS.md says, and each law is shown able to fail."""

import os
import pwd
import re
import statistics
from pathlib import Path

import laws
import machine
import pytest
import yaml

MEDIAN_LINES = 120
CASES = Path(__file__).resolve().parent.parent / "cases" / "architecture"


@pytest.fixture(scope="module")
def sources(checkout: Path) -> list[laws.Source]:
    return machine.tracked(checkout)


@pytest.fixture(scope="module")
def hosts() -> set[str]:
    return machine.package_hosts(Path(pwd.getpwuid(os.getuid()).pw_dir))


def test_there_is_something_to_look_at(sources: list[laws.Source]) -> None:
    rooms = {source.room for source in sources if source.path.endswith("/__init__.py")}
    assert {"model", "lock", "transport", "lab", "app", "cli"} <= rooms


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_the_house_keeps_the_law(law: laws.Law, sources: list[laws.Source]) -> None:
    breaches = [breach for source in sources for breach in law(source)]
    assert not breaches, "\n".join(breaches)


def test_each_room_is_in_the_table_of_rooms(checkout: Path) -> None:
    table = [line for line in (checkout / "AGENTS.md").read_text().splitlines() if line.startswith("| `")]
    assert {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])} == laws.ROOMS


def test_most_modules_are_short(sources: list[laws.Source]) -> None:
    lengths = [source.text.count("\n") for source in sources if source.is_python and source.path.startswith("gpuprov/")]
    assert statistics.median(lengths) <= MEDIAN_LINES


def test_no_file_names_this_machine(sources: list[laws.Source], hosts: set[str], checkout: Path) -> None:
    folders = machine.machine_folders(checkout)
    breaches = [breach for source in sources for breach in laws.names_machine(source, hosts, folders)]
    assert not breaches, "\n".join(breaches)


def load_cases() -> list[dict[str, str]]:
    cases: list[dict[str, str]] = yaml.safe_load((CASES / "breaches.yaml").read_text())
    return cases


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: f"{case['law']}: {case['why']}")
def test_a_breach_is_found(case: dict[str, str]) -> None:
    law = getattr(laws, case["law"])
    text = case["text"] * int(case.get("times", 1))
    breaches = list(law(laws.Source(path=case["path"], text=text)))
    if case["says"] == "nothing":
        assert breaches == []
    else:
        assert any(case["says"] in breach for breach in breaches), breaches


def test_every_law_has_a_breach_and_a_pass() -> None:
    for outcome in (True, False):
        shown = {case["law"] for case in load_cases() if (case["says"] == "nothing") is outcome}
        assert shown >= {law.__name__ for law in laws.LAWS}, f"no case that {'keeps' if outcome else 'breaks'} it"


def test_a_name_of_this_machine_is_found() -> None:
    hosts = machine.hosts_in(
        'deb [arch=amd64] https://user:word@Mirror.Site.Example:8080/debian x\nPIP="http://pypi.site.example/simple"'
    )
    assert hosts == {"mirror.site.example", "pypi.site.example"}
    text = "a\nhttp://mirror.site.example/debian\np: /place/of/mine/file\nother.mirror.site.example\n/replace/of/mine\n"
    breaches = list(laws.names_machine(laws.Source(path="x.yaml", text=text), hosts, {"/place/of/mine"}))
    assert [breach.split(": names")[0] for breach in breaches] == ["x.yaml:2", "x.yaml:3"]


def test_the_checkout_and_the_folder_above_are_this_machine(tmp_path: Path) -> None:
    assert machine.machine_folders(tmp_path / "gpuprov") == {str(tmp_path), str(tmp_path / "gpuprov")}
    assert machine.machine_folders(Path("/root/gpuprov")) == {"/root/gpuprov"}
