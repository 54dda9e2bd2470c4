"""`gpuprov ssh`."""

import os
from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.ssh import ssh_words
from gpuprov.cli.options import spec_option, target_option
from gpuprov.model.diagnostic import Diagnostic, GpuprovError


@click.command("ssh")
@click.argument("host")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@spec_option
@target_option
@click.option("-i", "--inventory", type=click.Path(), help="Ansible inventory; overrides the spec's.")
@click.option(
    "--vault-password-file",
    type=click.Path(),
    envvar="ANSIBLE_VAULT_PASSWORD_FILE",
    help="File (or program) with the vault's password.",
)
def command(
    *, host: str, words: tuple[str, ...], spec: Path, target: str | None, inventory: str | None,
    vault_password_file: str | None,
) -> int:  # fmt: skip
    """Log in to a host of the rack or the cloud with the system's ssh, as gpuprov itself reaches it.

    Its key is checked against the one that was verified. The status is that of ssh.
    """
    access = Access(inventory=inventory, vault_password_file=vault_password_file)
    argv = ssh_words(spec, host, words, access, target=target)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - this process becomes ssh: its terminal, signals and status are ssh's
    except OSError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-RUN-004",
                summary=f"`{argv[0]}` cannot be started: {(error.strerror or str(error)).lower()}",
                hint="install the OpenSSH client",
            )
        ) from error
