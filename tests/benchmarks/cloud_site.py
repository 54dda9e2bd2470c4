"""Sites of many instances in an account on paper: moto and the strict plugin in this process, no node is booted."""

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measure import GPUPROV, Command, once
from moto.core import DEFAULT_ACCOUNT_ID

from gpuprov.cloud.engine import find_engine
from gpuprov.lab.aws.plugin.server import PluginServer

sys.path.insert(0, str(Path(__file__).parents[1] / "builders"))
from lab_account import REGION, ZONE, lab_account

HERE = Path(__file__).parent
NAME = "many"
SPEC = """\
apiVersion: gpuprov/v1
name: {name}
os: debian-12
pools: {{many: {{gpu: none, cloud: {{instance: m7i.large, count: {count}}}}}}}
targets:
  cloud:
    account: "{account}"
    region: {region}
    network:
      {{cidr: 10.61.0.0/16, public: true, zones: [{zone}], ranges: {{office: [203.0.113.0/24]}}, ssh_from: [office]}}
    login_keys: [key.pub]
"""
LOGIN_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl bench\n"


@dataclass
class Calls(logging.Handler):
    """Counts the requests that the account answers."""

    number: int = 0

    def __post_init__(self) -> None:
        """Set the handler up."""
        super().__init__()

    __hash__ = object.__hash__

    def emit(self, record: logging.LogRecord) -> None:
        """One line of the server's log is one request."""
        del record
        self.number += 1


@dataclass(kw_only=True)
class ManySite:
    """A spec with so many instances, locked and made."""

    count: int
    folder: Path
    environment: dict[str, str]
    calls: Calls

    def gpuprov(self, step: str) -> Command:
        """A step of gpuprov."""
        argv = (sys.executable, str(HERE / "cloud_step.py"), step)
        return Command(argv=argv, folder=self.folder, more=self.environment)

    def bare(self, step: str) -> Command:
        """The bare engine, on a copy of the state."""
        return bare(self.folder, NAME, self.environment, step)

    @property
    def state_bytes(self) -> int:
        """How large the state is."""
        return (self.folder / f".gpuprov/cloud/state/.pulumi/stacks/gpuprov-aws/{NAME}.json").stat().st_size


def bare(folder: Path, stack: str, environment: Mapping[str, str], step: str) -> Command:
    """The bare engine on a copy of a site's state, as it is at each run; `document.json` is there.

    Args:
        folder: of the spec.
        stack: its name.
        environment: of the account, and PATH with the engine.
        step: up or preview.
    """
    copy = folder / "bare"

    def fresh() -> None:
        # The engine keeps a checkpoint of every update: without this each round would have more files than the last.
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder / ".gpuprov" / "cloud", copy)

    more = {
        **environment,
        "PULUMI_BACKEND_URL": f"file://{copy / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(copy / "passphrase"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    argv = (sys.executable, str(HERE / "cloud_bare.py"), step, str(copy / "work" / stack), stack)
    return Command(argv=argv, folder=folder, more=more, before=fresh)


@contextmanager
def many(count: int, folder: Path) -> Iterator[ManySite]:
    """A site of so many instances in an empty account."""
    calls = Calls()
    log = logging.getLogger("werkzeug")
    log.setLevel(logging.INFO)
    log.addHandler(calls)
    log.propagate = False
    (folder / "account").mkdir(parents=True)
    spec = SPEC.format(name=NAME, count=count, account=DEFAULT_ACCOUNT_ID, region=REGION, zone=ZONE)
    (folder / "gpuprov.yaml").write_text(spec, encoding="utf-8")
    (folder / "key.pub").write_text(LOGIN_KEY, encoding="utf-8")
    try:
        with lab_account(folder / "account") as cloud:
            server = PluginServer(endpoint=cloud.endpoint)
            server.start()
            environment = {
                "AWS_ENDPOINT_URL": cloud.endpoint,
                "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
                "AWS_SECRET_ACCESS_KEY": "none",
                "AWS_REGION": REGION,
                "PULUMI_DEBUG_PROVIDERS": f"aws:{server.port}",
                "PATH": path_with_engine(),
            }
            try:
                site = ManySite(count=count, folder=folder, environment=environment, calls=calls)
                once(Command(argv=(GPUPROV, "lock"), folder=folder, more=environment))
                yield site
            finally:
                server.stop()
    finally:
        log.removeHandler(calls)


def path_with_engine() -> str:
    """PATH with the engine that gpuprov would take: the bare one is the same program."""
    return f"{find_engine(os.environ).path.parent}{os.pathsep}{os.environ['PATH']}"
