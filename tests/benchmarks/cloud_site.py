"""Sites of many instances in an account on paper: moto and the strict plugin in this process, no node is booted."""

import logging
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from measure import GPUPROV, Command, once
from moto.core import DEFAULT_ACCOUNT_ID

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
    more: dict[str, str] = field(default_factory=dict)

    def gpuprov(self, step: str) -> Command:
        """A step of gpuprov."""
        argv = (sys.executable, str(HERE / "cloud_step.py"), step)
        return Command(argv=argv, folder=self.folder, more=self.environment)

    def bare(self, step: str) -> Command:
        """The bare engine, on a copy of the state as it was when the stack had been made."""
        copy = self.folder / "bare"
        more = self.environment | {
            "PULUMI_BACKEND_URL": f"file://{copy / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(copy / "passphrase"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        argv = (sys.executable, str(HERE / "cloud_bare.py"), step, str(copy / "work" / NAME), NAME)
        return Command(argv=argv, folder=self.folder, more=more, before=self._fresh_copy)

    @property
    def state_bytes(self) -> int:
        """How large the state is."""
        return (self.folder / f".gpuprov/cloud/state/.pulumi/stacks/gpuprov-aws/{NAME}.json").stat().st_size

    def _fresh_copy(self) -> None:
        # The engine keeps a checkpoint of every update: without this each round would have more files than the last.
        shutil.rmtree(self.folder / "bare", ignore_errors=True)
        shutil.copytree(self.folder / ".gpuprov" / "cloud", self.folder / "bare")


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
                "PATH": f"{_engine_folder()}{os.pathsep}{os.environ['PATH']}",
            }
            try:
                site = ManySite(count=count, folder=folder, environment=environment, calls=calls)
                once(Command(argv=(GPUPROV, "lock"), folder=folder, more=environment))
                yield site
            finally:
                server.stop()
    finally:
        log.removeHandler(calls)


def _engine_folder() -> Path:
    """Where the engine is that gpuprov would take: the bare one is the same program."""
    from gpuprov.cloud.engine import find_engine  # noqa: PLC0415 - as long as nothing else here needs it

    return find_engine(os.environ).path.parent
