"""The lab's AWS on this machine: instances that are real systems, driven with boto3 as any other tool would."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gpuprov.lab import lab as labs
from gpuprov.lab.aws import faults
from gpuprov.lab.names import LabNames
from tests.e2e.account import Account
from tests.e2e.site import LabSite

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]
SECONDS = 240.0
SSH = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
HOST_KEYS = re.compile(r"-----BEGIN SSH HOST KEY KEYS-----\r?\n(.*?)-----END SSH HOST KEY KEYS-----", re.DOTALL)


@dataclass
class Aws:
    """A VPC with one subnet and one group, and what a test does with instances in it."""

    site: LabSite
    account: Account
    ec2: Any
    key: Path
    vpc: str = ""
    subnet: str = ""
    group: str = ""
    gateway: str = ""
    keys: dict[str, list[str]] = field(default_factory=dict)
    """Instance -> its host keys, as its console showed them."""

    @property
    def names(self) -> LabNames:
        return LabNames(self.site.lab.id)

    def build(self) -> None:
        cloud = self.site.lab.description.cloud
        assert cloud is not None
        wanted = [{"Name": "instance-type", "Values": [cloud.instance]}]
        offers = self.ec2.describe_instance_type_offerings(LocationType="availability-zone", Filters=wanted)
        self.vpc = self.ec2.create_vpc(CidrBlock=cloud.cidr)["Vpc"]["VpcId"]
        first = f"{cloud.cidr.rsplit('.', 2)[0]}.1.0/24"
        zone = offers["InstanceTypeOfferings"][0]["Location"]
        made = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=first, AvailabilityZone=zone)
        self.subnet = made["Subnet"]["SubnetId"]
        self.ec2.modify_subnet_attribute(SubnetId=self.subnet, MapPublicIpOnLaunch={"Value": True})
        self.gateway = self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self.ec2.attach_internet_gateway(InternetGatewayId=self.gateway, VpcId=self.vpc)
        group = self.ec2.create_security_group(GroupName="lab", Description="logins", VpcId=self.vpc)
        self.group = group["GroupId"]
        self.ec2.authorize_security_group_ingress(GroupId=self.group, IpPermissions=SSH)

    def demolish(self) -> None:
        self.ec2.delete_security_group(GroupId=self.group)
        self.ec2.delete_subnet(SubnetId=self.subnet)
        self.ec2.detach_internet_gateway(InternetGatewayId=self.gateway, VpcId=self.vpc)
        self.ec2.delete_internet_gateway(InternetGatewayId=self.gateway)
        self.ec2.delete_vpc(VpcId=self.vpc)

    def run(self, name: str, **more: Any) -> str:
        cloud = self.site.lab.description.cloud
        assert cloud is not None
        public = self.key.with_name(f"{self.key.name}.pub").read_text()
        asked = {
            "ImageId": cloud.base_image,
            "InstanceType": cloud.instance,
            "SubnetId": self.subnet,
            "SecurityGroupIds": [self.group],
            "MetadataOptions": {"HttpTokens": "required"},
            "UserData": f"#cloud-config\nhostname: {name}\nssh_authorized_keys:\n- {public}",
            "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": name}]}],
            "MinCount": 1,
            "MaxCount": 1,
            **more,
        }
        return str(self.ec2.run_instances(**asked)["Instances"][0]["InstanceId"])

    def row(self, instance: str) -> dict[str, Any]:
        return dict(self.ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0])

    def state(self, instance: str) -> str:
        return str(self.row(instance)["State"]["Name"])

    def status(self, instance: str) -> str:
        rows = self.ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
        return str(rows[0]["InstanceStatus"]["Status"]) if rows else "not running"

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{what}\n{self._log()}"
            time.sleep(0.3)

    def wait_ok(self, instance: str) -> None:
        self.wait(lambda: self.status(instance) == "ok", f"{instance} does not come up: {self.state(instance)}")

    def known_hosts(self, instance: str) -> Path:
        """The host keys that the console shows, bound to the instance's public address."""

        def shown() -> str:
            return str(self.ec2.get_console_output(InstanceId=instance, Latest=True).get("Output", ""))

        if instance not in self.keys:  # shown at the first boot only, and a console forgets what is older than 64 KiB
            self.wait(lambda: HOST_KEYS.search(shown()) is not None, f"no host keys on the console of {instance}")
            self.keys[instance] = HOST_KEYS.findall(shown())[-1].split("\n")
        keys = self.keys[instance]
        address = self.row(instance)["PublicIpAddress"]
        place = self.key.with_name(f"known-{instance}")
        place.write_text("".join(f"{address} {key.strip()}\n" for key in keys if key.strip()))
        return place

    def ssh(self, instance: str, command: str, *, address: str = "", seconds: int = 10) -> tuple[int, str]:
        """Log in with the key of the user data, to a host that the console vouches for."""
        options = [f"ConnectTimeout={seconds}", "StrictHostKeyChecking=yes", "BatchMode=yes", "LogLevel=ERROR"]
        options.append(f"UserKnownHostsFile={self.known_hosts(instance)}")
        words = [word for option in options for word in ("-o", option)]
        where = f"admin@{address or self.row(instance)['PublicIpAddress']}"
        argv = ["ssh", "-i", str(self.key), *words, where, command]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, (done.stdout + done.stderr).strip()

    def sh(self, instance: str, command: str) -> str:
        status, output = self.ssh(instance, command)
        assert status == 0, f"{command}: {status} {output}"
        return output

    def loops(self) -> str:
        listed = subprocess.run(["losetup", "--list"], capture_output=True, text=True, check=True).stdout
        return "\n".join(line for line in listed.splitlines() if str(self.names.folder) in line)

    def _log(self) -> str:
        log = (self.names.cloud_folder / "server.log").read_text(errors="replace").splitlines()
        return "\n".join([line for line in log if '"POST / HTTP' not in line][-30:])


@pytest.fixture(scope="module")
def aws(fresh_lab: Callable[..., LabSite], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aws]:
    """An account with a network; afterwards nothing may be left, in the account and on the machine."""
    site = fresh_lab("eaws", cloud=True)
    key = tmp_path_factory.mktemp("key") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    account = Account(site.env)
    before = account.listing()
    made = Aws(site=site, account=account, ec2=account.client("ec2"), key=key)
    made.build()
    yield made
    mine = list(account.instances())
    if mine:
        made.ec2.terminate_instances(InstanceIds=mine)
    made.wait(lambda: all(made.state(i) == "terminated" for i in mine), "instances do not end")
    made.demolish()
    assert account.listing() == before
    assert made.loops() == ""
    names = made.names
    assert [
        p for folder in (names.images_folder, names.volumes_folder, names.vpcs_folder) for p in folder.glob("*")
    ] == []
    nodes = {node.name for node in site.lab.description.nodes}
    assert {place.name for place in (made.names.folder / "nodes").iterdir()} == nodes
    left = labs.leftovers(site.lab.id)
    assert len(left.namespaces) == len(nodes) + 1, "the rack's nodes and its router"


@pytest.fixture(scope="module")
def first(aws: Aws) -> str:
    """An instance from the base image; every test leaves it up."""
    instance = aws.run("cloud-one")
    assert aws.state(instance) in {"pending", "running"}  # as fast as its boot
    aws.wait_ok(instance)
    return instance


def test_user_data_is_applied_and_the_console_vouches_for_the_host(aws: Aws, first: str) -> None:
    assert aws.sh(first, "hostname; sudo -n whoami") == "cloud-one\nroot"
    aws.wait(lambda: "status: done" in aws.ssh(first, "cloud-init status")[1], "cloud-init does not end")
    assert aws.sh(first, "cloud-id") in ("aws", "ec2"), "ec2 where the DMI tables are not read, as in a container"
    assert aws.sh(first, "systemctl is-system-running") == "running"


def test_metadata_needs_a_token_and_tells_who_the_instance_is(aws: Aws, first: str) -> None:
    base = "http://169.254.169.254/latest"
    token = f"$(curl -sX PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' {base}/api/token)"
    assert aws.sh(first, f"curl -so /dev/null -w '%{{http_code}}' {base}/meta-data/instance-id") == "401"
    asked = f'curl -s -H "X-aws-ec2-metadata-token: {token}" {base}/meta-data/'
    shown = aws.row(first)
    assert aws.sh(first, f"{asked}instance-id") == first
    assert aws.sh(first, f"{asked}public-ipv4") == shown["PublicIpAddress"]
    assert aws.sh(first, f"{asked}mac") == shown["NetworkInterfaces"][0]["MacAddress"]
    assert shown["NetworkInterfaces"][0]["MacAddress"] in aws.sh(first, "ip -o link show eth0")


def test_a_security_group_closes_and_opens_a_port(aws: Aws, first: str) -> None:
    aws.ec2.revoke_security_group_ingress(GroupId=aws.group, IpPermissions=SSH)
    try:
        status, said = aws.ssh(first, "true", seconds=3)
        assert status == 255
        assert "timed out" in said
    finally:
        aws.ec2.authorize_security_group_ingress(GroupId=aws.group, IpPermissions=SSH)
    aws.sh(first, "true")


def test_a_volume_keeps_its_bytes_through_stop_and_start(aws: Aws, first: str) -> None:
    zone = aws.row(first)["Placement"]["AvailabilityZone"]
    volume = aws.ec2.create_volume(AvailabilityZone=zone, Size=1, VolumeType="gp3", Encrypted=True)["VolumeId"]
    aws.ec2.attach_volume(VolumeId=volume, InstanceId=first, Device="/dev/sdf")
    by_id = f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{volume.replace('-', '')}"
    assert aws.sh(first, f"readlink -f {by_id}") == "/dev/nvme1n1"
    aws.sh(first, f"sudo sh -ec 'mkfs.ext4 -q {by_id}; mkdir -p /data; mount {by_id} /data; echo kept >/data/file'")
    before = aws.row(first)

    aws.ec2.stop_instances(InstanceIds=[first])
    aws.wait(lambda: aws.state(first) == "stopped", "the instance does not stop")
    assert "PublicIpAddress" not in aws.row(first)
    aws.ec2.start_instances(InstanceIds=[first])
    aws.wait_ok(first)
    after = aws.row(first)
    assert after["PrivateIpAddress"] == before["PrivateIpAddress"]
    assert after["PublicIpAddress"] != before["PublicIpAddress"]
    assert aws.sh(first, "hostname") == "cloud-one"
    assert aws.sh(first, f"sudo sh -ec 'mount {by_id} /data; cat /data/file; umount /data'") == "kept"

    aws.ec2.detach_volume(VolumeId=volume)
    assert aws.ssh(first, f"ls /dev/nvme1n1 {by_id}")[0] != 0
    assert aws.loops() == ""
    aws.ec2.delete_volume(VolumeId=volume)
    assert list(aws.names.volumes_folder.iterdir()) == []


def test_a_reboot_from_either_side_is_another_boot(aws: Aws, first: str) -> None:
    boots = [aws.sh(first, "cat /proc/sys/kernel/random/boot_id")]
    aws.ec2.reboot_instances(InstanceIds=[first])
    aws.wait_ok(first)
    boots.append(aws.sh(first, "cat /proc/sys/kernel/random/boot_id"))
    aws.ssh(first, "sudo systemctl reboot")
    aws.wait(lambda: aws.status(first) == "initializing", "nobody sees the reboot")
    assert aws.state(first) == "running"
    aws.wait_ok(first)
    boots.append(aws.sh(first, "cat /proc/sys/kernel/random/boot_id"))
    assert len(set(boots)) == 3


def test_an_image_is_the_disk_as_it_was_and_a_new_instance_of_it_is_another_host(aws: Aws, first: str) -> None:
    aws.sh(first, "echo baked | sudo tee /etc/baked")
    key = aws.sh(first, "cat /etc/ssh/ssh_host_ed25519_key.pub").split()[1]
    image = aws.ec2.create_image(InstanceId=first, Name="baked")["ImageId"]
    rows = {}

    def made() -> bool:
        rows.update(aws.ec2.describe_images(ImageIds=[image])["Images"][0])
        return bool(rows["State"] != "pending")

    aws.wait(made, "the image stays pending")
    assert rows["State"] == "available"
    aws.wait_ok(first)
    second = aws.run("cloud-two", ImageId=image, InstanceType="t3.large")
    aws.wait_ok(second)
    assert aws.sh(second, "cat /etc/baked; hostname") == "baked\ncloud-two"
    assert aws.sh(second, "cat /etc/ssh/ssh_host_ed25519_key.pub").split()[1] != key
    other = aws.row(first)["PrivateIpAddress"]
    probe = (
        f"timeout 3 bash -c '</dev/tcp/{other}/22' && echo open; timeout 3 bash -c '</dev/tcp/{other}/23' || echo shut"
    )
    assert [line for line in aws.sh(second, probe).splitlines() if line in ("open", "shut")] == ["open", "shut"]

    aws.ec2.deregister_image(ImageId=image)
    aws.ec2.delete_snapshot(SnapshotId=rows["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"])
    assert (aws.names.images_folder / image).exists(), "an instance stands on it"
    assert aws.sh(second, "cat /etc/baked") == "baked"
    aws.ec2.terminate_instances(InstanceIds=[second])
    assert aws.state(second) in ("shutting-down", "terminated")
    aws.wait(lambda: aws.state(second) == "terminated", "the instance does not end")
    assert not (aws.names.images_folder / image).exists()
    assert not aws.names.node_folder(second).exists()


def test_an_instance_that_powers_itself_off_is_stopped(aws: Aws, first: str) -> None:
    aws.ssh(first, "sudo systemctl poweroff")
    aws.wait(lambda: aws.state(first) == "stopped", "nobody sees that it is off")
    aws.ec2.start_instances(InstanceIds=[first])
    aws.wait_ok(first)


def test_a_network_that_is_used_cannot_go(aws: Aws, first: str) -> None:
    for call, what in (
        (aws.ec2.delete_security_group, {"GroupId": aws.group}),
        (aws.ec2.delete_subnet, {"SubnetId": aws.subnet}),
        (aws.ec2.delete_vpc, {"VpcId": aws.vpc}),
        (aws.ec2.detach_internet_gateway, {"InternetGatewayId": aws.gateway, "VpcId": aws.vpc}),
    ):
        with pytest.raises(ClientError, match="DependencyViolation"):
            call(**what)
    aws.sh(first, "true")


def test_the_caller_is_of_the_labs_account(aws: Aws) -> None:
    cloud = aws.site.lab.description.cloud
    assert cloud is not None
    assert aws.account.client("sts").get_caller_identity()["Account"] == cloud.account
    assert aws.ec2.describe_vpcs(VpcIds=[aws.vpc])["Vpcs"][0]["OwnerId"] == cloud.account


def test_a_hundred_instances_without_nodes(aws: Aws) -> None:
    with faults.fault(aws.site.env["AWS_ENDPOINT_URL"], kind="boot-off"):
        ids = [aws.run(f"paper-{number}") for number in range(20)]
        ids += [
            instance["InstanceId"]
            for instance in aws.ec2.run_instances(
                ImageId=aws.site.lab.description.cloud.base_image,  # type: ignore[union-attr]
                InstanceType="t3.large",
                SubnetId=aws.subnet,
                MinCount=80,
                MaxCount=80,
            )["Instances"]
        ]
    aws.wait(lambda: all(aws.state(instance) == "running" for instance in ids), "not all run")
    assert not any(aws.names.node_folder(instance).exists() for instance in ids)
    aws.ec2.terminate_instances(InstanceIds=ids)
    aws.wait(lambda: all(aws.state(instance) == "terminated" for instance in ids), "not all end")
