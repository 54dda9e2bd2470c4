"""`gpuprov schema`."""

import click

from gpuprov.reference.schema import schema_text


@click.command("schema")
def command() -> int:
    """Print the JSON Schema of the spec, for editors: `gpuprov schema > gpuprov.schema.json`.

    An editor with a YAML language server finds it by the first line of a spec that `init` writes:
    `# yaml-language-server: $schema=gpuprov.schema.json`.
    """
    click.echo(schema_text(), nl=False)
    return 0
