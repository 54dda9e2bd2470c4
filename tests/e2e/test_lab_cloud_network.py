"""The lab's cloud below its API: instances that boot through cloud-init, their network, and nothing left behind."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gpuprov.lab import lab, seed
from gpuprov.lab.aws import base, metadata_file, network, nodes, services, vpcs
from gpuprov.lab.aws.metadata_file import Credentials, InstanceMetadata
from gpuprov.lab.aws.securitygroups import InstanceRules, Rule
from gpuprov.lab.description import CloudDescription, LabDescription
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import Node
from gpuprov.lab.record import read_record
from gpuprov.lab.state import LabState, Power
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress

# One lab for the module: bases that are not in the cache take minutes.
pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]
SEED = int(os.environ.get("GPUPROV_LAB_SEED", secrets.randbelow(1_000_000)))
VPC = "vpc-0a0a0a0a0a0a0a0a0"
OPEN, SHUT = "i-00000000000000001", "i-00000000000000002"
"""The first instance has a public address, the second has none."""
IMDS = "http://169.254.169.254"
ALL = Rule(protocol="-1", from_port=None, to_port=None, cidr="0.0.0.0/0")
KEYS = Credentials(
    access_key_id="ASIATEST", secret_access_key="s", token="t", last_updated="2026-11-30T00:00:00Z",
    expiration="2026-11-30T06:00:00Z",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Site:
    """The lab, and what the account would do in it."""

    state: LabState

    @property
    def lab(self) -> LabDescription:
        return self.state.description

    @property
    def cloud(self) -> CloudDescription:
        assert self.lab.cloud is not None
        return self.lab.cloud

    def public(self, number: int) -> str:
        return str(self.cloud.public_network[number])

    def private(self, number: int, vpc: str = VPC) -> str:
        return str(vpcs.read_vpc(self.lab, vpc).network[number])

    def node(self, instance_id: str) -> Node:
        return nodes.cloud_node(self.lab, instance_id, self.state.folder)

    def launch(self, instance_id: str, number: int, *, public: str | None, os: str = "", role: str = "") -> None:
        """What RunInstances does: link, metadata, disk, power."""
        private = self.private(number)
        network.make_instance_link(self.lab, VPC, instance_id, private, public)
        key = (self.state.folder / "id_ed25519.pub").read_text().strip()
        user_data = (
            f"#cloud-config\nssh_authorized_keys: ['{key}']\nwrite_files: [{{path: /root/told, content: told}}]\n"
        )
        metadata_file.write_metadata(
            self.lab,
            InstanceMetadata(
                instance_id=instance_id, vpc_id=VPC, ami_id=self.cloud.base_image, instance_type=self.cloud.instance,
                account=self.cloud.account, region=self.cloud.region, zone=f"{self.cloud.region}a",
                hostname=f"ip-{private.replace('.', '-')}.ec2.internal", private_address=private,
                public_address=public, mac=network.mac_of(instance_id), user_data=user_data.encode(),
                profile_arn=f"arn:aws:iam::{self.cloud.account}:instance-profile/{role}" if role else "", role=role,
                credentials=KEYS if role else None,
            ),
        )  # fmt: skip
        layer = base.ensure_cloud_base(os or self.lab.nodes[0].os, ignore_progress)
        nodes.make_instance_disk(self.lab, instance_id, [layer], {})
        self.node(instance_id).start()

    def terminate(self, instance_id: str) -> None:
        nodes.remove_instance(self.lab, instance_id)
        network.remove_instance_link(self.lab, instance_id)

    def allow(self, **ingress: tuple[Rule, ...]) -> None:
        """Both instances let everything out; in comes what is named: `open` and `shut`, ssh from the machine if not."""
        ssh = (Rule(protocol="tcp", from_port=22, to_port=22, cidr=f"{self.lab.host}/32"),)
        named = {OPEN: ingress.get("open", ssh), SHUT: ingress.get("shut", ssh)}
        rules = [InstanceRules(instance_id=name, ingress=given, egress=(ALL,)) for name, given in named.items()]
        network.set_rules(self.lab, VPC, rules)

    def run(self, instance_id: str, command: str) -> str:
        done = self.node(instance_id).exec(["sh", "-c", command], timeout=60)
        assert done.status == 0, f"{command}: {done.status}\n{done.stdout}{done.stderr}"
        return done.stdout

    def imds(self, instance_id: str, path: str, *, token: str) -> str:
        """What an instance's curl gets, with the status at the end."""
        header = f"-H 'X-aws-ec2-metadata-token: {token}'" if token else ""
        return self.run(instance_id, f"curl --silent --max-time 5 -w '|%{{http_code}}' {header} {IMDS}{path}")

    def token(self, instance_id: str) -> str:
        header = "-H 'X-aws-ec2-metadata-token-ttl-seconds: 60'"
        return self.run(instance_id, f"curl --silent --fail -X PUT {header} {IMDS}/latest/api/token")

    def last_client(self) -> str:
        """Whom the package repository saw last."""
        log = LabNames(self.lab.id).folder / "repository.log"
        return log.read_text().splitlines()[-1].split()[0]


def until(what: Callable[[], bool], *, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def connects(address: str, port: int) -> bool:
    try:
        with socket.create_connection((address, port), timeout=1.5):
            return True
    except TimeoutError:
        return False


def way_to(address: str) -> str:
    """The link by which the machine sends to an address."""
    told = subprocess.run(["ip", "-json", "route", "get", address], capture_output=True, text=True, check=True)
    return str(json.loads(told.stdout)[0]["dev"])


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A lab of one node with a VPC and two instances, without API and plugin; its seed is printed."""
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\nGPUPROV_LAB_SEED={SEED}")  # noqa: T201
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "start_services", lambda _: None)
        patch.setattr(services, "wait_services", lambda _: None)
        drawn = replace(seed.draw(SEED, nodes=1), id="cnet")
        lab.down(drawn.id, ignore_progress)
        state = lab.up(drawn, tmp_path_factory.mktemp("lab"), ignore_progress)
    made = Site(state=state)
    try:
        network.make_vpc(made.lab, VPC, made.cloud.cidr)
        made.launch(OPEN, 10, public=made.public(40), role="hosts")
        made.launch(SHUT, 11, public=None)
        made.allow()
        for name in (OPEN, SHUT):
            # The node ends with an error where cloud-init does.
            until(lambda name=name: made.node(name).leader() is not None)
            assert made.node(name).exec(["cloud-init", "status", "--wait"], timeout=120).status == 0
        yield made
    finally:
        lab.down(state.id, ignore_progress)
    assert lab.leftovers(state.id).empty
    routes = subprocess.run(["ip", "-4", "route", "show", "table", "all"], capture_output=True, text=True, check=True)
    assert made.public(0).removesuffix("0") not in routes.stdout
    assert f"gpl-{state.id}" not in routes.stdout


@pytest.fixture(autouse=True)
def usual_rules(site: Site) -> Iterator[None]:
    """Each test leaves the security groups as they were."""
    yield
    site.allow()


def test_user_data_lets_in_by_the_public_address_with_the_host_key_of_the_console(site: Site) -> None:
    console = site.node(OPEN).console.read_text(errors="replace")
    block = console.split("-----BEGIN SSH HOST KEY KEYS-----")[1].split("-----END SSH HOST KEY KEYS-----")[0]
    known = site.state.folder / ".gpuprov/cloud/known_hosts"
    known.parent.mkdir(parents=True, exist_ok=True)
    lines = [" ".join(line.split()[:2]) for line in block.splitlines() if line.startswith(("ssh-", "ecdsa-"))]
    known.write_text("".join(f"{site.public(40)} {line}\n" for line in lines))
    argv = ["ssh", "-F", str(site.state.folder / "ssh_config"), site.public(40)]
    command = "id -un; sudo -n cat /root/told; echo; echo $SSH_CLIENT; cloud-id; hostname"
    done = subprocess.run([*argv, command], capture_output=True, text=True, timeout=60, check=True)
    user, told, client, cloud, host = done.stdout.splitlines()
    assert (user, told, cloud) == ("admin", "told", "ec2")
    assert client.split()[0] == site.lab.host
    assert host == f"ip-{site.private(10).replace('.', '-')}"
    assert done.stderr == ""  # sudo knows the host's own name


def test_the_instance_is_up_without_a_failed_unit_and_has_an_identity_of_its_own(site: Site) -> None:
    for name in (OPEN, SHUT):
        assert site.run(name, "systemctl is-system-running --wait") == "running\n"
    for place in ("/etc/machine-id", "/etc/ssh/ssh_host_ed25519_key.pub"):
        assert site.run(OPEN, f"cat {place}") != site.run(SHUT, f"cat {place}")


def test_the_metadata_service_wants_a_token_of_the_instance(site: Site) -> None:
    token = site.token(OPEN)
    assert site.imds(OPEN, "/latest/meta-data/instance-id", token=token) == f"{OPEN}|200"
    assert site.imds(OPEN, "/latest/meta-data/instance-id", token="") == "|401"
    assert site.imds(SHUT, "/latest/meta-data/instance-id", token=token) == "|401"
    assert site.imds(SHUT, "/latest/meta-data/public-ipv4", token=site.token(SHUT)) == "|404"
    assert site.imds(OPEN, "/latest/meta-data/public-ipv4", token=token) == f"{site.public(40)}|200"
    keys = site.imds(OPEN, "/latest/meta-data/iam/security-credentials/hosts", token=token)
    assert json.loads(keys.removesuffix("|200"))["AccessKeyId"] == "ASIATEST"
    assert network.mac_of(OPEN) in site.run(OPEN, "ip link show dev eth0")
    assert site.imds(OPEN, f"/latest/meta-data/network/interfaces/macs/{network.mac_of(OPEN)}/vpc-id", token=token) == (
        f"{VPC}|200"
    )


def test_a_token_travels_as_far_as_its_hops(site: Site) -> None:
    """A container's network, translated as Docker does it, is one hop more."""
    space = LabNames(site.lab.id).node_namespace(OPEN)
    site.run(
        OPEN,
        "ip netns add box && ip link add v0 type veth peer name v1 netns box && ip addr add 10.99.0.1/24 dev v0 && "
        "ip link set v0 up && ip -n box addr add 10.99.0.2/24 dev v1 && ip -n box link set v1 up && "
        "ip -n box route add default via 10.99.0.1 && echo 1 >/proc/sys/net/ipv4/ip_forward",
    )
    rules = (
        "table ip box { chain out { type nat hook postrouting priority 100; ip saddr 10.99.0.0/24 masquerade; }; }\n"
    )
    network.inside(space, ["nft", "-f", "-"], stdin=rules)
    header = "-H 'X-aws-ec2-metadata-token-ttl-seconds: 60'"
    put = f"curl --silent --fail --max-time 3 -X PUT {header} {IMDS}/latest/api/token"
    known = metadata_file.find_metadata(LabNames(site.lab.id), VPC, site.private(10))
    assert known is not None
    ends = {}
    for hops in (1, 2):
        metadata_file.write_metadata(site.lab, replace(known, hop_limit=hops))
        ends[hops] = site.node(OPEN).exec(["ip", "netns", "exec", "box", "sh", "-c", put]).status
    metadata_file.write_metadata(site.lab, known)
    site.run(OPEN, "ip netns delete box")
    network.inside(space, ["nft", "delete", "table", "ip", "box"])
    assert ends == {1: 28, 2: 0}


def test_who_an_instance_is_to_others(site: Site) -> None:
    fetch = f"curl --silent --fail --max-time 10 -o /dev/null {site.lab.repository_url}Packages"
    site.run(OPEN, fetch)
    assert site.last_client() == site.public(40)
    site.run(SHUT, fetch)
    assert site.last_client() == network.router_address(site.lab, vpcs.read_vpc(site.lab, VPC))


def test_instances_reach_the_archive(site: Site) -> None:
    assert "Err:" not in site.run(OPEN, "apt-get update")


def test_a_packet_needs_a_rule_and_its_answer_does_not(site: Site) -> None:
    site.run(SHUT, "systemd-run --quiet --unit=web python3 -m http.server 8000 --directory /etc/cloud")
    until(lambda: "8000" in site.run(SHUT, "ss -ltn"))
    fetch = ["curl", "--silent", "--fail", "--max-time", "2", "-o", "/dev/null", f"http://{site.private(11)}:8000/"]
    assert site.node(OPEN).exec(fetch).status == 28
    web = Rule(protocol="tcp", from_port=8000, to_port=8001, cidr=f"{site.private(10)}/32")
    site.allow(shut=(web,))
    assert site.node(OPEN).exec(fetch).status == 0
    site.allow(shut=(replace(web, from_port=8001),))
    assert site.node(OPEN).exec(fetch).status == 28
    site.allow(shut=(replace(web, protocol="udp"),))
    assert site.node(OPEN).exec(fetch).status == 28


def test_egress_is_closed_without_a_rule(site: Site) -> None:
    fetch = ["curl", "--silent", "--fail", "--max-time", "2", "-o", "/dev/null", f"{site.lab.repository_url}Packages"]
    assert site.node(OPEN).exec(fetch).status == 0
    network.set_rules(site.lab, VPC, [InstanceRules(instance_id=OPEN, ingress=(ALL,))])
    assert site.node(OPEN).exec(fetch).status == 28
    # An answer goes out all the same, and the metadata service is no matter of security groups, as on AWS.
    assert connects(site.public(40), 22)
    assert site.imds(OPEN, "/latest/meta-data/instance-id", token=site.token(OPEN)).endswith("|200")


def test_a_connection_lives_on_when_its_rule_goes(site: Site) -> None:
    with socket.create_connection((site.public(40), 22), timeout=5) as link:
        assert link.recv(4) == b"SSH-"
        site.allow(open=())
        assert not connects(site.public(40), 22)
        link.sendall(b"SSH-2.0-test\r\n" + b"not a packet of this protocol".ljust(64))
        # sshd's own greeting may come in one piece or in several; that it then hangs up shows that it read ours.
        while link.recv(4096):
            pass


def test_an_instance_that_has_no_rules_yet_is_closed(site: Site) -> None:
    network.set_rules(site.lab, VPC, [])
    assert not connects(site.public(40), 22)


def test_rules_that_the_kernel_refuses_leave_the_earlier_ones(site: Site) -> None:
    bad = Rule(protocol="tcp", from_port=22, to_port=22, cidr="not a range")
    with pytest.raises(GpuprovError):
        network.set_rules(site.lab, VPC, [InstanceRules(instance_id=OPEN, ingress=(bad,))])
    assert connects(site.public(40), 22)


def test_a_foreign_source_address_is_dropped(site: Site) -> None:
    site.run(OPEN, "ip address add 10.250.0.1/32 dev eth0")
    done = site.node(OPEN).exec(["ping", "-c1", "-W1", "-I", "10.250.0.1", site.lab.host])
    site.run(OPEN, "ip address delete 10.250.0.1/32 dev eth0")
    assert done.status == 1
    assert site.node(OPEN).exec(["ping", "-c1", "-W1", site.lab.host]).status == 0


def test_link_local_addresses_go_nowhere(site: Site) -> None:
    assert site.node(OPEN).exec(["curl", "--silent", "--max-time", "2", "http://169.254.170.2/"]).status == 28


def test_an_address_that_no_instance_has_is_silent(site: Site) -> None:
    assert not connects(site.public(77), 22)


def test_a_public_address_can_be_changed_and_taken_away(site: Site) -> None:
    network.set_public_address(site.lab, OPEN, site.public(41))
    assert connects(site.public(41), 22)
    assert not connects(site.public(40), 22)
    network.set_public_address(site.lab, OPEN, None)
    assert not connects(site.public(41), 22)
    for foreign in ("192.0.2.7", site.public(1), site.public(255)):
        with pytest.raises(GpuprovError, match="no public address"):
            network.set_public_address(site.lab, OPEN, foreign)
    network.set_public_address(site.lab, OPEN, site.public(40))
    assert connects(site.public(40), 22)


def test_a_second_vpc_with_the_same_range_comes_and_goes(site: Site) -> None:
    other, instance = "vpc-0b", "i-00000000000000003"
    network.make_vpc(site.lab, other, site.cloud.cidr)
    network.make_instance_link(site.lab, other, instance, site.private(10), site.public(50))
    second = "i-00000000000000004"
    network.make_instance_link(site.lab, other, second, site.private(20), None)
    assert way_to(site.private(10)) == LabNames(site.lab.id).vpc_link(1)
    assert way_to(site.private(20)) == way_to(site.public(50)) == LabNames(site.lab.id).vpc_link(2)
    network.remove_instance_link(site.lab, second)
    assert way_to(site.private(20)) == LabNames(site.lab.id).host_link
    status = {seen.id: seen for seen in lab.status(site.state.id).cloud.instances}
    assert status[instance].power is Power.OFF
    assert (status[OPEN].power, status[OPEN].public_address) == (Power.ON, site.public(40))
    assert connects(site.public(40), 22)
    network.remove_vpc(site.lab, other)
    network.remove_vpc(site.lab, other)
    assert not (Path("/run/netns") / LabNames(site.lab.id).node_namespace(instance)).exists()
    assert connects(site.public(40), 22)
    assert connects(site.private(10), 22)


def test_an_instance_stops_and_starts_with_its_disk_and_gets_its_devices(site: Site) -> None:
    volume = LabNames(site.lab.id).volumes_folder / "vol-1"
    volume.parent.mkdir(parents=True, exist_ok=True)
    with volume.open("wb") as file:
        file.truncate(64 * 2**20)
    argv = ["losetup", "--find", "--show", str(volume)]
    loop = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    assert loop in lab.leftovers(site.state.id).loops
    nodes.set_devices(site.lab, SHUT, {loop: "/dev/nvme1n1"})
    site.run(SHUT, "echo kept >/root/file")
    before = site.run(SHUT, "cat /etc/ssh/ssh_host_ed25519_key.pub")
    node = site.node(SHUT)
    node.exec(["systemctl", "poweroff"])
    until(lambda: node.supervisor() is None)
    node.start()
    until(lambda: node.leader() is not None)
    assert node.exec(["cloud-init", "status", "--wait"], timeout=120).status == 0
    assert site.run(SHUT, "cat /root/file; cat /etc/ssh/ssh_host_ed25519_key.pub") == f"kept\n{before}"
    site.run(SHUT, "mkfs.ext4 -q /dev/nvme1n1 && mount /dev/nvme1n1 /mnt && echo there >/mnt/f && umount /mnt")
    # The loop device stays: `lab down` takes it away.


@pytest.mark.parametrize("os", ["debian-12", "debian-13"])
def test_an_instance_comes_and_goes_alone(site: Site, os: str) -> None:
    instance = "i-0000000000000000f"
    site.launch(instance, 12, public=site.public(60), os=os)
    try:
        until(lambda: site.node(instance).leader() is not None)
        assert site.node(instance).exec(["cloud-init", "status", "--wait"], timeout=120).status == 0
        assert site.run(instance, "cat /root/told; . /etc/os-release; echo; echo $VERSION_ID") == f"told\n{os[-2:]}\n"
        assert site.run(instance, "systemctl is-system-running --wait") == "running\n"
        with pytest.raises(GpuprovError, match="has a disk already"):
            nodes.make_instance_disk(site.lab, instance, [], {})
    finally:
        site.terminate(instance)
    site.terminate(instance)
    assert not LabNames(site.lab.id).node_folder(instance).exists()
    assert vpcs.find_link(site.lab, instance) is None
    assert all(instance not in place for place in lab.leftovers(site.state.id).folders)
    assert site.node(OPEN).exec(["true"]).status == 0


KILLED_UP = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from gpuprov.lab import lab, making, seed
from gpuprov.model.progress import ignore_progress

making.services.wait_services = lambda _: os.kill(os.getpid(), signal.SIGKILL)
lab.up(replace(seed.draw(int(sys.argv[1]), nodes=1), id="ckill"), Path(sys.argv[2]), ignore_progress)
"""


def test_nothing_is_left_of_a_lab_that_was_killed_when_its_cloud_had_started(site: Site, tmp_path: Path) -> None:
    """The same seed as the lab beside it: ranges and ports are in use, and must become others."""
    lab.down("ckill", ignore_progress)
    argv = [sys.executable, "-c", KILLED_UP, str(SEED), str(tmp_path)]
    assert subprocess.run(argv, check=False, timeout=300).returncode == -9
    record = read_record("ckill")
    assert record is not None
    killed = record.description.cloud
    assert killed is not None
    assert {killed.cidr, killed.public_range}.isdisjoint({site.cloud.cidr, site.cloud.public_range})
    assert lab.leftovers("ckill").processes
    lab.down("ckill", ignore_progress)
    assert lab.leftovers("ckill").empty
    assert all(services.free_port(port) for port in (killed.api_port, killed.plugin_port))
    assert connects(site.public(40), 22)
