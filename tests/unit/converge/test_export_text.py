"""The exported project holds what a run's own inventory holds, readable line by line, and no secret."""

import configparser
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from framework_builders import with_frameworks
from host_builders import make_want

from gpuprov.converge.export_text import INVENTORY, MARK, project_texts
from gpuprov.converge.inventory import connection_variables
from gpuprov.converge.types import RunDocuments
from gpuprov.converge.variables import document_variables, host_variables
from gpuprov.model.host import Become, Connection, Host
from gpuprov.plan.removal import Removal
from gpuprov.want.types import FileWant

WHEN = "2026-11-30T00:00:00Z"
DOCUMENTS = RunDocuments(spec="name: a # {{ not a template }}\n", lock="{}\n")
BASE = make_want()
WANT = replace(
    BASE,
    pool=replace(
        BASE.pool, files=(*BASE.pool.files, FileWant(path="/etc/motd", text="{{ no }}: 'x' # y\n\tä {% raw %}\n"))
    ),
)
SECRET = Connection(
    host="gpu-1", address="192.0.2.7", user="ana", password="pass-1", become=Become(password="pass-2"), port=2222
)
HOSTS = [
    Host(name="gpu-1", pool="train", target="onprem", connection=SECRET),
    Host(name="gpu-2", pool="train", target="onprem", connection=Connection(host="gpu-2", address="192.0.2.8")),
    Host(name="login", pool="cpu", target="onprem", connection=Connection(host="login", address="192.0.2.9")),
]
WANTS = {"gpu-1": WANT, "gpu-2": BASE, "login": BASE}


@pytest.fixture
def texts() -> dict[str, str]:
    return project_texts(HOSTS, WANTS, DOCUMENTS, when=WHEN)


def loaded(text: str) -> Any:
    """As Ansible reads it."""
    return DataLoader().load(text)


def test_variables_are_those_of_a_run(texts: dict[str, str]) -> None:
    for name, want in WANTS.items():
        assert loaded(texts[f"host_vars/{name}.yml"]) == host_variables(want, Removal(), when=WHEN)
    assert loaded(texts["group_vars/all.yml"]) == document_variables(DOCUMENTS)


def test_the_inventory_has_a_group_for_each_pool(texts: dict[str, str]) -> None:
    groups = loaded(texts[INVENTORY])["all"]["children"]
    assert {name: list(group["hosts"]) for name, group in groups.items()} == {
        "train": ["gpu-1", "gpu-2"],
        "cpu": ["login"],
    }
    assert groups["train"]["hosts"]["gpu-1"] == connection_variables(SECRET)


def test_no_password_is_written_and_every_file_says_who_wrote_it(texts: dict[str, str]) -> None:
    assert not any("pass-" in text for text in texts.values())
    assert all(text.startswith(MARK) for text in texts.values())


def test_a_package_has_a_line_of_its_own(texts: dict[str, str]) -> None:
    lines = texts["host_vars/gpu-1.yml"].splitlines()
    for package in BASE.pool.packages:
        assert sum(f'"name": "{package.name}", "version": "{package.version}"' in line for line in lines) == 1


def test_the_settings_name_what_stands_beside_them(texts: dict[str, str]) -> None:
    settings = configparser.ConfigParser()
    settings.read_string(texts["ansible.cfg"])
    here = Path(__file__).parents[3]
    assert settings["defaults"]["inventory"] == INVENTORY
    for key in ("library", "module_utils", "roles_path"):
        assert (here / settings["defaults"][key]).is_dir()


def test_uv_is_named_where_a_host_gets_frameworks() -> None:
    wants = {**WANTS, "gpu-2": with_frameworks(BASE)}
    shared = loaded(project_texts(HOSTS, wants, DOCUMENTS, when=WHEN)["group_vars/all.yml"])
    assert shared["gpuprov_frameworks_uv"] == "uv"
