"""What must hold for every role."""

from pathlib import Path
from typing import Any

import pytest
import yaml

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
ROLES = sorted((PLAYBOOKS / "roles").iterdir())


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def tasks_of(role: Path) -> list[dict[str, Any]]:
    return [task for part in ("tasks", "handlers") for path in role.glob(f"{part}/*.yml") for task in read(path)]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_argument_specs_equal_defaults(role: Path) -> None:
    options = read(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    defaults = read(role / "defaults" / "main.yml")
    assert {name: option["default"] for name, option in options.items()} == defaults
    assert all(name.startswith(f"{role.name}_") for name in defaults)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_readme_names_every_variable(role: Path) -> None:
    text = (role / "README.md").read_text(encoding="utf-8")
    assert [name for name in read(role / "defaults" / "main.yml") if f"`{name}`" not in text] == []


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_no_error_is_ignored_and_every_command_says_when_it_changed(role: Path) -> None:
    for task in tasks_of(role):
        assert "ignore_errors" not in task
        assert task.get("failed_when") is not False
        if {"ansible.builtin.command", "ansible.builtin.shell", "ansible.builtin.raw"} & set(task):
            assert "changed_when" in task, task["name"]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_is_at_most_two_tasks(role: Path) -> None:
    # A task costs 0.65 s on each host (lab-facts, section 10).
    assert len(read(role / "tasks" / "main.yml")) <= 2


def test_the_only_play_uses_every_role_once() -> None:
    """A50: also, no facts are gathered before Python was looked for."""
    (play,) = read(PLAYBOOKS / "site.yml")
    assert play["gather_facts"] is False
    names = [row["role"] for row in play["roles"]]
    assert sorted(names) == [role.name for role in ROLES]
    assert play["force_handlers"] is True
    # The transaction is judged before anything is touched, and the record is written when all is done.
    assert (names[0], names[-1]) == ("gpuprov_packages", "gpuprov_record")


def test_no_service_task_restarts_but_the_handler() -> None:
    for role in ROLES:
        for task in read(role / "tasks" / "main.yml"):
            arguments = task.get("gpuprov_services", {})
            assert "moved" not in arguments, task["name"]


def test_what_has_to_restart_does_so_before_services_start() -> None:
    first, _ = read(PLAYBOOKS / "roles" / "gpuprov_services" / "tasks" / "main.yml")
    assert first["ansible.builtin.meta"] == "flush_handlers"
    (play,) = read(PLAYBOOKS / "site.yml")
    names = [row["role"] for row in play["roles"]]
    notifying = {role.name for role in ROLES for task in read(role / "tasks" / "main.yml") if "notify" in task}
    assert notifying == {"gpuprov_packages", "gpuprov_modules"}
    assert max(names.index(name) for name in notifying) < names.index("gpuprov_services")


def test_the_mark_that_one_step_leaves_is_the_one_that_its_handler_takes_away() -> None:
    role = PLAYBOOKS / "roles" / "gpuprov_modules"
    (handler,) = read(role / "handlers" / "main.yml")
    marks = [task["gpuprov_files"]["pending"] for task in read(role / "tasks" / "main.yml") if "notify" in task]
    assert marks == [handler["gpuprov_initramfs"]["pending"]]
