"""`gpuprov policy`: operator, hosts."""

from pathlib import Path

import click

from gpuprov.app.policy import OperatorRequest, hosts, operator
from gpuprov.cli.options import spec_option
from gpuprov.cloud.decide.grants import COMMANDS
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.json_text import show_json
from gpuprov.render.terminal import open_terminal


@click.group("policy")
def command() -> None:
    """IAM policies for this spec: of whoever runs gpuprov, and of the hosts."""


def _commands(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    unknown = [name for name in names if name not in COMMANDS]
    if unknown or not names:
        raise click.BadParameter(f"{', '.join(unknown) or 'nothing'} is none of {', '.join(COMMANDS)}")
    return names


def _named(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    pairs = [each.partition("=") for each in value]
    if wrong := [whole for whole, (name, _, bucket) in zip(value, pairs, strict=True) if not (name and bucket)]:
        raise click.BadParameter(f"{wrong[0]} is not STORAGE=NAME")
    return {name: bucket for name, _, bucket in pairs}


@command.command("operator")
@spec_option
@click.option(
    "--for",
    "commands",
    default=",".join(COMMANDS),
    show_default=True,
    metavar="COMMAND,...",
    callback=_commands,
    help="What the policy is for.",
)
@click.option("--delete-data", is_flag=True, help="Allow to delete buckets and volumes, with what is in them.")
@click.option(
    "--bucket",
    "buckets",
    multiple=True,
    metavar="STORAGE=NAME",
    callback=_named,
    help="A bucket that `import` takes in, or took: it keeps its own name.",
)
@click.option("--part", type=click.IntRange(1), metavar="N", help="A piece of a policy that is too long for one.")
@click.option("--no-colour", is_flag=True, help="No colour (NO_COLOR works too).")
def operator_(
    *,
    spec: Path,
    commands: tuple[str, ...],
    delete_data: bool,
    buckets: dict[str, str],
    part: int | None,
    no_colour: bool,
) -> int:
    """Print the least policy that gpuprov's commands need for this spec, as JSON.

    Nothing is asked of AWS. Resources are told apart by the tag gpuprov:spec, roles and buckets by their names. What
    the real AWS provider reads beyond what was tried here stands in statements of its own (`...AsTheProvider`).
    """
    terminal = open_terminal(colour=False if no_colour else None)
    request = OperatorRequest(spec=spec, commands=commands, delete_data=delete_data, buckets=buckets, part=part)
    policy, told = operator(request)
    show_diagnostics(told, terminal)
    show_json(policy, terminal)
    return 0


@command.command("hosts")
@click.argument("pool")
@spec_option
@click.option("--no-colour", is_flag=True, help="No colour (NO_COLOR works too).")
def hosts_(*, pool: str, spec: Path, no_colour: bool) -> int:
    """Print what the hosts of a POOL may do in AWS, as JSON: what a role of your own must hold for them."""
    terminal = open_terminal(colour=False if no_colour else None)
    policy, told = hosts(spec, pool)
    show_diagnostics(told, terminal)
    show_json(policy, terminal)
    return 0
