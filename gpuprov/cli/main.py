"""The entry point: finds a command without importing the others, and turns every end into an exit status."""

import gc
import importlib
import keyword
import sys
from collections.abc import Sequence
from typing import Final

import click

from gpuprov import __version__
from gpuprov.cli.ending import end_with
from gpuprov.cli.settings import put_in_force

# Most runs end before they have made enough garbage to look for: a sixth of what `validate` takes went into that.
gc.set_threshold(50_000)

_COMMANDS: Final = {
    "init": "Write a commented spec and inventory; with --from HOST, of what is there.",
    "validate": "Check the spec, offline: all errors in one run.",
    "schema": "Print the JSON Schema of the spec, for editors.",
    "explain": "Explain a field of the spec, a facet of a host, or an error's code.",
    "catalog": "Show what is known of GPUs, drivers, packages and systems, and from where.",
    "lock": "Resolve the spec to exact packages and write gpuprov.lock.",
    "preview": "Show what `up` would do: resources in the cloud, changes on each host.",
    "up": "Make what is missing, bring hosts to the locked stack, and prove it.",
    "rollback": "Bring hosts back to an earlier run, from what they keep of it.",
    "runs": "Show what earlier runs did: all of them, or one step by step.",
    "status": "Show for each host whether it is as wanted.",
    "snapshot": "Look at hosts, read-only, and write what is there.",
    "parity": "Show what differs: between hosts, snapshots, targets and the lock.",
    "output": "Show what was made in the cloud: hosts with addresses, buckets, volumes.",
    "state": "Show what is recorded of the cloud's stack; put a copy back, take a lock away.",
    "recover": "Explain and settle what interrupted runs left in the cloud.",
    "stop": "Switch cloud hosts off, free of work; they keep all but what is on local disks.",
    "start": "Switch stopped cloud hosts on, and wait until they answer.",
    "ssh": "Log in to a host, with its verified key.",
    "policy": "Print the least IAM policy for this spec: of whoever runs it, of its hosts.",
    "image": "Bake machine images of the locked stack; list and remove them.",
    "import": "Take a bucket, a network or a role of the account into the stack.",
    "export": "Write what plain Ansible, or AWX, can bring racked hosts to the lock with.",
    "destroy": "Hand racked hosts back; delete those in the cloud, except what holds data.",
    "lab": "A data centre on this machine, to try everything without a GPU.",
    "config": "Show the settings of gpuprov itself, and where each comes from.",
    "completion": "Print the completion script of a shell.",
}


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are used: `--version` must not pay for Ansible."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        # No module can have the name of a word of Python's own: `import` is in import_.py.
        name = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        module = importlib.import_module(f"gpuprov.cli.commands.{name}")
        command = module.command
        if not isinstance(command, click.Command):
            raise TypeError(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in _COMMANDS:
            import difflib  # noqa: PLC0415 - only needed for a mistake

            near = difflib.get_close_matches(name, _COMMANDS, n=1)
            meant = f" Did you mean `{near[0]}`?" if near else ""
            raise click.UsageError(f"No such command `{name}`.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's callback
    if value and not ctx.resilient_parsing:
        click.echo(f"gpuprov {__version__}")
        ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.option("--apt-lock-timeout", metavar="SECONDS", help="How long dpkg's lock on a host is waited for.")
@click.option("--cache", metavar="DIR", help="Folder of package indexes and programs.")
@click.option("--colour", metavar="WHEN", help="auto, always or never.")
@click.option("--forks", metavar="N", help="Hosts that are looked at at the same time.")
@click.option("--probe-timeout", metavar="SECONDS", help="When one host's probe is given up.")
@click.option("--pulumi", metavar="PROGRAM", help="The Pulumi engine.")
@click.option("--reboot-timeout", metavar="SECONDS", help="When a host that reboots is given up.")
@click.option("--source-timeout", metavar="SECONDS", help="When a silent package source is given up.")
@click.pass_context
def gpuprov(ctx: click.Context, /, **flags: str | None) -> None:
    """One spec for GPU servers in a rack and in the cloud: the same, locked, proven software stack.

    The options here are settings of gpuprov itself; `gpuprov config` shows where each comes from.
    """
    ctx.obj = put_in_force(flags)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None takes the process's own.

    Returns:
        The exit status (the table "Exit status" of README.md). As a console script the process ends with it.
    """
    return end_with(gpuprov, list(sys.argv[1:] if argv is None else argv))
