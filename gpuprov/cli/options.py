"""Flags that several commands share, each defined once."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def _setting_option(name: str, **texts: Any) -> Callable[[Command], Command]:
    """The flag of a numeric setting of gpuprov itself: default, bounds and variable are the table's."""
    from gpuprov.store.setting_table import BY_NAME  # noqa: PLC0415 - `validate` has no such flag

    setting = BY_NAME[name]
    return click.option(
        setting.flag,
        type=click.IntRange(*(setting.bounds or ())),
        default=int(setting.default),
        show_default=True,
        envvar=setting.variable,
        **texts,
    )


def spec_option(command: Command) -> Command:
    """`-f/--file`: the spec."""
    return click.option(
        "-f",
        "--file",
        "spec",
        type=click.Path(path_type=Path),
        default=Path("gpuprov.yaml"),
        show_default=True,
        help="The spec.",
    )(command)


def json_option(command: Command) -> Command:
    """`--json` and `--no-colour`."""
    command = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on stdout.")(command)
    return click.option("--no-colour", is_flag=True, help="No colour (NO_COLOR works too).")(command)


def verbose_option(command: Command) -> Command:
    """`-v/--verbose`: the whole plan."""
    return click.option("-v", "--verbose", is_flag=True, help="Every hold and every new file in full.")(command)


def terms_options(command: Command) -> Command:
    """`--take-over`, `--disturb`, `--no-rollback`: what may be done to hosts that would else be refused."""
    command = click.option(
        "--no-rollback",
        is_flag=True,
        help="Change hosts whose old packages no source has too: there is no way back to these.",
    )(command)
    return click.option(
        "--take-over",
        is_flag=True,
        help="Remove what stands in the stack's place: packages of another origin, a driver from a .run file (by its"
        " own uninstaller). The plan shows them.",
    )(disturb_option(command))


def disturb_option(command: Command) -> Command:
    """`--disturb`: hosts whose GPUs are in use are changed too."""
    return click.option(
        "--disturb", is_flag=True, help="Change hosts whose GPUs are in use too; the plan shows who would be ended."
    )(command)


def target_option(command: Command) -> Command:
    """`--target`: which of the site's targets."""
    return click.option(
        "--target",
        type=click.Choice(["onprem", "cloud"]),
        help="Where the hosts are; needed where the spec has both.",
    )(command)


def cloud_options(command: Command) -> Command:
    """`--replace NAME` and `--remove NAME`, repeatable: what may go in the cloud; and `--refresh`."""
    command = click.option(
        "--refresh", is_flag=True, help="Read every resource in the cloud first, to see what was changed there by hand."
    )(command)
    command = click.option(
        "--remove",
        "remove",
        multiple=True,
        metavar="NAME",
        help="Cloud host or volume (STORAGE/HOST) that the spec no longer holds, and that may go: a host is drained as"
        " its pool says, then deleted. Repeatable.",
    )(command)
    return click.option(
        "--replace",
        "replace",
        multiple=True,
        metavar="NAME",
        help="Cloud host, bucket or volume (STORAGE/HOST) that may be replaced or deleted; a host is. Repeatable.",
    )(command)


@functools.cache
def _access() -> tuple[Callable[[Any], Any], ...]:
    return (
        click.option("-i", "--inventory", type=click.Path(), help="Ansible inventory; overrides the spec's."),
        click.option("-l", "--limit", help="Only these hosts or groups, separated by commas."),
        click.option(
            "-K", "--ask-become-pass", is_flag=True, help="Ask for the sudo password (or GPUPROV_BECOME_PASSWORD)."
        ),
        click.option(
            "--vault-password-file",
            type=click.Path(),
            envvar="ANSIBLE_VAULT_PASSWORD_FILE",
            help="File (or program) with the vault's password.",
        ),
        _setting_option("forks", help="Hosts at the same time."),
        _setting_option("probe_timeout", metavar="SECONDS", help="When one host's probe is given up."),
    )


def access_options(command: Callable[..., int]) -> Callable[..., int]:
    """How to reach the hosts: inventory, limit, passwords; the command gets them as one `access`."""
    from gpuprov.app.access import Access  # noqa: PLC0415 - `validate` reaches no host

    @functools.wraps(command)
    def with_access(
        *,
        inventory: str | None,
        limit: str | None,
        ask_become_pass: bool,
        vault_password_file: str | None,
        forks: int,
        probe_timeout: int,
        **others: Any,
    ) -> int:
        password = os.environ.get("GPUPROV_BECOME_PASSWORD")
        if ask_become_pass:
            password = click.prompt("sudo password", hide_input=True, err=True)
        access = Access(
            inventory=inventory,
            limit=limit,
            become_password=password,
            vault_password_file=vault_password_file,
            forks=forks,
            probe_seconds=float(probe_timeout),
        )
        return command(access=access, **others)

    for option in _access():
        with_access = option(with_access)
    return with_access
