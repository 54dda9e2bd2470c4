"""Whoever has a rack does not wait for the cloud's libraries."""

import subprocess
import sys

import pytest

HEAVY = ("boto3", "botocore", "pulumi", "pulumi_aws", "grpc", "moto")


@pytest.mark.parametrize(
    "modules",
    [
        ("gpuprov.cli.main",),
        ("gpuprov.cli.commands.up", "gpuprov.cli.commands.destroy", "gpuprov.cli.commands.preview"),
        ("gpuprov.cli.commands.status", "gpuprov.cli.commands.parity", "gpuprov.cli.commands.snapshot"),
        ("gpuprov.cli.commands.ssh", "gpuprov.cli.commands.output"),
    ],
)
def test_commands_do_not_load_the_clouds_libraries(modules: tuple[str, ...]) -> None:
    code = f"import sys, {', '.join(modules)}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
