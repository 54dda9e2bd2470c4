"""The lab's AWS inside a test: moto with every hook, machines and networks that only write down what they are told."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
from botocore.config import Config
from moto import settings
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ec2.models import EC2Backend, ec2_backends
from werkzeug.serving import make_server

from gpuprov.lab.aws.account import Account
from gpuprov.lab.aws.faults import FaultBook
from gpuprov.lab.aws.images import ImageStore
from gpuprov.lab.aws.machine import Launch
from gpuprov.lab.aws.securitygroups import InstanceRules
from gpuprov.lab.aws.volumes import VolumeStore
from gpuprov.lab.aws.wiring import wire
from gpuprov.lab.description import CloudDescription

_SESSION = boto3.Session()
"""One for all tests: it keeps the services' models, which take half a second to read."""
_CHECKS = ("ENABLE_AMI_VALIDATION", "EC2_ENABLE_INSTANCE_TYPE_VALIDATION", "ENABLE_KEYPAIR_VALIDATION")
"""What the server switches on by moto's environment variables."""
REGION = "us-east-1"
ZONE = "us-east-1a"
IMAGE = "ami-0123456789abcdef0"
CIDR = "10.61.0.0/16"
TYPE = "g6.xlarge"
CLOUD = CloudDescription(
    region=REGION,
    account=DEFAULT_ACCOUNT_ID,
    cidr=CIDR,
    public_range="198.18.7.0/24",
    api_port=0,
    plugin_port=0,
    instance=TYPE,
    hosts=("cloud-1", "cloud-2"),
    base_image=IMAGE,
    base_image_name="debian-12-amd64-20260105-2348",
)


@dataclass(eq=False)
class PaperMachine:
    """A machine that writes down what is asked of it."""

    folder: Path
    watched: bool = True
    told: list[str] = field(default_factory=list)
    launch: Launch | None = None
    boots: int = 0
    on: bool = False
    up: bool = True
    """Whether its system comes up when it is on."""
    refuses: bool = False
    """Whether it cannot be made."""
    shown: bytes = b""
    devices: dict[str, str] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)

    def make(self, launch: Launch) -> None:
        self.told.append("make")
        if self.refuses:
            raise OSError("no room")
        self.launch = launch
        for part in ("upper", "docker"):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "upper" / "etc").mkdir()
        (self.folder / "upper" / "etc" / "hostname").write_text("one\n")

    def describe(self, launch: Launch) -> None:
        self.told.append("describe")
        self.launch = launch

    def plug(self, devices: Mapping[str, str]) -> None:
        self.devices = dict(devices)

    def start(self) -> None:
        self.told.append("start")
        self.boots += 1
        self.shown += f"boot {self.boots}\n".encode()
        self.on = True

    def stop(self) -> None:
        self.told.append("stop")
        self.on = False

    def cut(self) -> None:
        self.told.append("cut")
        self.on = False

    def reboot(self) -> None:
        self.told.append("reboot")
        self.boots += 1

    def boot(self) -> int | None:
        return self.boots if self.on else None

    def powered(self) -> bool:
        return self.on

    def ready(self) -> bool:
        return self.on and self.up

    def run(self, argv: Sequence[str]) -> None:
        self.commands.append(list(argv))

    def console(self) -> bytes:
        return self.shown

    def remove(self) -> None:
        self.told.append("remove")


@dataclass
class PaperNetwork:
    """Networks that write down what is asked of them."""

    vpcs: dict[str, str] = field(default_factory=dict)
    rules: dict[str, dict[str, InstanceRules]] = field(default_factory=dict)

    def make_vpc(self, vpc_id: str, cidr: str) -> None:
        self.vpcs[vpc_id] = cidr

    def remove_vpc(self, vpc_id: str) -> None:
        del self.vpcs[vpc_id]

    def set_rules(self, vpc_id: str, rules: Sequence[InstanceRules]) -> None:
        self.rules[vpc_id] = {each.instance_id: each for each in rules}


@dataclass
class Cloud:
    """What a test has of the lab's AWS."""

    account: Account
    endpoint: str
    machines: dict[str, PaperMachine]
    network: PaperNetwork
    log: list[str]
    base: Path

    def client(self, service: str, *, region: str = REGION, retries: int = 0) -> Any:
        """A client of a service, which by default does not try again."""
        return _SESSION.client(
            service,
            region_name=region,
            endpoint_url=self.endpoint,
            aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
            aws_secret_access_key="none",
            config=Config(retries={"total_max_attempts": 1 + retries, "mode": "standard"}),
        )

    def subnet(self, ec2: Any, *, zone: str = ZONE, public: bool = True) -> str:
        """A subnet in a VPC of its own."""
        vpc = ec2.create_vpc(CidrBlock=CIDR)["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.61.1.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        if public:
            ec2.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
        return str(subnet)

    def run(self, ec2: Any, subnet: str, **more: Any) -> str:
        """An instance; its id. It may still be pending."""
        asked = {"ImageId": IMAGE, "InstanceType": TYPE, "SubnetId": subnet, "MinCount": 1, "MaxCount": 1, **more}
        return str(ec2.run_instances(**asked)["Instances"][0]["InstanceId"])

    def settle(self, instance: str) -> None:
        """Wait until what was asked of an instance is done."""
        self.account.compute.settle(instance, seconds=20)

    def state(self, ec2: Any, instance: str) -> str:
        """The state of an instance."""
        return str(self.row(ec2, instance)["State"]["Name"])

    def row(self, ec2: Any, instance: str) -> dict[str, Any]:
        """An instance as DescribeInstances shows it."""
        found = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        return dict(found)


@contextmanager
def lab_account(folder: Path) -> Iterator[Cloud]:
    """The lab's AWS, served on loopback, with nothing in it."""
    ec2_backends[DEFAULT_ACCOUNT_ID].pop(REGION, None)
    with patch.dict(os.environ, MOTO_EC2_LOAD_DEFAULT_AMIS="false"):
        backend: EC2Backend = ec2_backends[DEFAULT_ACCOUNT_ID][REGION]
    machines: dict[str, PaperMachine] = {}
    network, log, base = PaperNetwork(), [], folder / "base"
    base.mkdir()

    def machine(instance_id: str) -> PaperMachine:
        machines[instance_id] = PaperMachine(folder / "nodes" / instance_id)
        return machines[instance_id]

    account = Account(
        cloud=CLOUD,
        backend=backend,
        book=FaultBook(),
        images=ImageStore(folder / "images", lambda _: base),
        volumes=VolumeStore(folder / "volumes"),
        network=network,
        make_machine=machine,
        say=log.append,
    )
    checks = {name: getattr(settings, name) for name in _CHECKS}
    for name in _CHECKS:
        setattr(settings, name, True)
    gateway, take_off = wire(account)
    server = make_server("127.0.0.1", 0, gateway, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Cloud(account, f"http://127.0.0.1:{server.server_port}", machines, network, log, base)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        take_off()
        for name, before in checks.items():
            setattr(settings, name, before)
        ec2_backends[DEFAULT_ACCOUNT_ID].pop(REGION, None)
