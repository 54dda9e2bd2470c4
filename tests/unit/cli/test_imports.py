"""Whoever has a rack does not wait for the cloud's libraries."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

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


def test_validate_loads_nothing_that_only_a_lock_or_a_host_needs() -> None:
    """It runs at every commit: see `make benchmark-startup`."""
    rooms = ("sources", "probe", "transport", "converge", "rollout", "cloud", "parity", "plan", "compare", "want")
    of_a_lock = ("lock.resolve", "lock.verdict", "lock.types", "lock.index", "lock.candidates", "model.package")
    modules = (*of_a_lock, "model.facets", "catalog.verify", "store.setting_table", "app.access", *rooms)
    libraries = (*HEAVY, "zipfile", "subprocess", "msgpack", "pysat", "uv", "rich", "traceback")
    unneeded = (*libraries, *(f"gpuprov.{module}" for module in modules))
    code = f"import sys, gpuprov.cli.commands.validate; print([m for m in {unneeded!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
