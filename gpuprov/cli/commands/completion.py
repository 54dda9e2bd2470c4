"""`gpuprov completion`."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> int:
    """Print the completion script of a shell: `source <(gpuprov completion bash)`."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    from gpuprov.cli.main import gpuprov  # noqa: PLC0415 - main imports this module on demand

    click.echo(found(gpuprov, {}, "gpuprov", "_GPUPROV_COMPLETE").source())
    return 0
