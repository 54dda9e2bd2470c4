"""Has Prowler read the account that the lab's AWS shows after `up`; a finding without an answer fails.

The account is on paper: the real engine, the strict plugin and moto, and no node. Prowler has an environment of its own
below .cache, with the libraries of AWS alone (scan_prowler.py). Run it as `.venv/bin/python .ci/scan.py`; the answers
stand in `scan_findings.yaml` beside it.

Some resources are planted, each with a weakness: a scan that does not find those has not looked.
"""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from gpuprov.spec.storage import StorageSpec

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "scan"
ANSWERS = Path(__file__).with_name("scan_findings.yaml")
SCANNER = "prowler==5.46.0"
NEEDED = (
    *("alive-progress", "boto3", "botocore", "colorama", "jsonschema", "kingfisher-bin", "markdown", "py-iam-expand"),
    *("py-ocsf-models", "pydantic", "python-dateutil", "pytz", "shodan", "slack-sdk", "tabulate", "truststore"),
    *("tzlocal", "uuid6"),
)
"""What of its requirements a scan of AWS takes, in the versions that it names itself."""
BESIDE = ("requests", "pyyaml", "packaging", "markupsafe")
"""What it takes besides, and leaves to others to bring."""
SERVICES = ("ec2", "s3", "iam")
FINDINGS = 3
"""How Prowler ends when something failed (its source, `__main__.py`, read 2026-11-30)."""
LIMIT = 900
"""Seconds that a scan may take."""
sys.path.insert(0, str(ROOT / "tests" / "builders"))


@dataclass(frozen=True)
class Finding:
    """A check that failed on a resource."""

    check: str
    resource: str
    told: str


@dataclass(frozen=True)
class Answer:
    """Why findings of some checks stand."""

    checks: tuple[str, ...]
    resource: str
    """A pattern for the whole name."""
    why: str

    def fits(self, finding: Finding) -> bool:
        """Whether it answers a finding."""
        return finding.check in self.checks and re.fullmatch(self.resource, finding.resource) is not None


def main() -> int:
    """Make the account, scan it, print each finding with its answer, and return the exit status."""
    install()
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)  # a line for each call, a page for each that moto lacks
    told = yaml.safe_load(ANSWERS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, account(Path(folder)) as made:
        began = time.monotonic()
        rows = scanned(made.endpoint, Path(folder))
        print(f"Prowler took {time.monotonic() - began:.0f} s")
        unread = {match[1] for line in made.calls() if (match := _NOT_BUILT.fullmatch(line))}
    return judge(rows, told, made.planted, unread)


def install() -> None:
    """Make Prowler's environment where it is not there whole."""
    whole = HOME / "whole"
    if whole.exists() and whole.read_text(encoding="utf-8") == SCANNER:
        return
    print(f"making the environment of {SCANNER} in {HOME.relative_to(ROOT)} (once)", flush=True)
    venv.create(HOME, with_pip=True, clear=True)
    pip = (HOME / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
    subprocess.run((*pip, "--no-deps", SCANNER), check=True)
    asking = "import importlib.metadata as m; print(*m.requires('prowler'), sep='\\n')"
    asked = subprocess.run((HOME / "bin" / "python", "-c", asking), check=True, capture_output=True, text=True)
    pins = {line.partition("==")[0]: line for line in asked.stdout.split()}
    # pip tells at length which libraries of other clouds are not there, and succeeds.
    done = subprocess.run(
        (*pip, *(pins[name] for name in NEEDED), *BESIDE), check=False, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    whole.write_text(SCANNER, encoding="utf-8")


def scanned(endpoint: str, folder: Path) -> list[dict[str, Any]]:
    """Everything that Prowler says of an account.

    Raises:
        RuntimeError: it did not come to its end.
    """
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    out = folder / "out"
    done = subprocess.run(
        (
            *(
                HOME / "bin" / "python",
                Path(__file__).with_name("scan_prowler.py"),
                "aws",
                "--service",
                *SERVICES,
                "--region",
                "us-east-1",
            ),
            *("-M", "json-ocsf", "-o", out, "-F", "scan", "-b", "--no-color"),
        ),
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    report = out / "scan.ocsf.json"
    if done.returncode not in {0, FINDINGS} or not report.exists():
        raise RuntimeError(f"Prowler ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    rows: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))
    return rows


def judge(
    rows: Iterable[Mapping[str, Any]], told: Mapping[str, Any], planted: Mapping[str, str], unread: Iterable[str]
) -> int:
    """Hold what was found against the answers; both must fit each other."""
    rows = list(rows)
    checks = Counter(row["metadata"]["event_code"] for row in rows)
    verdicts = Counter(row["status_code"] for row in rows)
    print(f"{len(checks)} checks on {len(rows)} resources: {dict(verdicts)}")
    answers = [_answer(row) for row in told["answers"]]
    found = sorted(set(_failed(rows, planted)), key=lambda one: (one.check, one.resource))
    wrong = 0
    used: set[tuple[Answer, str]] = set()
    for finding in found:
        if finding.resource.startswith(_PLANTED):
            continue
        answer = next((one for one in answers if one.fits(finding)), None)
        wrong += answer is None
        used |= {(answer, finding.check)} if answer is not None else set()
        print(f"{finding.check} {finding.resource}: {finding.told}\n  {answer.why if answer else 'NO ANSWER'}")
    for answer, check in ((one, check) for one in answers for check in one.checks):
        if (answer, check) not in used:
            wrong += 1
            print(f"answers nothing any more: {check} on {answer.resource}")
    wrong += _looked(found, told["planted"])
    wrong += _read(set(unread), told["unread"])
    print(f"{len(found)} finding(s); {wrong} thing(s) wrong")
    return 1 if wrong else 0


_PLANTED = "planted "
_NOT_BUILT = re.compile(r"moto: The (\w+) action has not been implemented")
_ID = re.compile(r"(?<=-)([0-9a-f]{17}|[0-9a-f]{8})\b")


def _failed(rows: Iterable[Mapping[str, Any]], planted: Mapping[str, str]) -> Iterator[Finding]:
    for row in rows:
        if row["status_code"] != "FAIL":
            continue
        uid = str(row["resources"][0]["uid"])
        name = next((name for id_, name in planted.items() if id_ in uid), None)
        yield Finding(
            check=str(row["metadata"]["event_code"]),
            resource=f"{_PLANTED}{name}" if name else _ID.sub("ID", uid),
            told=str(row["status_detail"]),
        )


def _answer(row: Mapping[str, Any]) -> Answer:
    return Answer(checks=tuple(row["checks"]), resource=row.get("resource", ".*"), why=" ".join(row["why"].split()))


def _looked(found: Iterable[Finding], planted: Iterable[Mapping[str, str]]) -> int:
    """How many of the planted weaknesses were not found."""
    there = {(one.check, one.resource) for one in found}
    missed = [row for row in planted if (row["check"], f"{_PLANTED}{row['resource']}") not in there]
    for row in missed:
        print(f"not found, though it is there: {row['check']} on {row['resource']}")
    return len(missed)


def _read(unread: set[str], known: Mapping[str, str]) -> int:
    """How many calls of Prowler had no answer, and are not known for that: their checks saw nothing."""
    for call in sorted(unread):
        print(f"not answered by moto: {call}\n  {known.get(call, 'NO ANSWER')}")
    for call in sorted(known.keys() - unread):
        print(f"answered by now: {call}")
    return len(unread ^ known.keys())


@dataclass(frozen=True)
class Made:
    """The account that is scanned."""

    endpoint: str
    planted: Mapping[str, str]
    """Id -> what it is."""
    calls: Callable[[], list[str]]
    """Action and status of each call since everything was made."""


@contextmanager
def account(folder: Path) -> Iterator[Made]:
    """The lab's account after an image was baked and everything was made."""
    from policy_life import life  # noqa: PLC0415 - the tests' own; the path to them is set above

    spec = the_spec()
    with life(folder, spec) as made:
        image = made.image(spec)
        made.up(spec, {"train": image})
        planted = plant(made.cloud)
        before = len(made.cloud.log)
        yield Made(made.cloud.endpoint, planted, lambda: made.cloud.log[before:])


def the_spec() -> Any:
    """Two pools behind NAT and an endpoint, one of them close together; buckets, volumes, a file system, two roles."""
    from cloud_builders import cloud_network, cloud_pool, cloud_spec  # noqa: PLC0415 - as above
    from lab_account import TYPE, ZONE  # noqa: PLC0415 - as above
    from moto.core import DEFAULT_ACCOUNT_ID  # noqa: PLC0415 - as above
    from policy_life import STORAGE  # noqa: PLC0415 - as above

    train = cloud_pool(hosts=("train-a", "train-b"), instance=TYPE)
    train = replace(train, cloud=replace(train.cloud, placement="cluster"))  # type: ignore[type-var]
    return cloud_spec(
        train,
        cloud_pool("web", hosts=("web-a",), instance=TYPE),
        storage={**STORAGE, "home": StorageSpec(kind="shared", mount="/shared")},
        account=DEFAULT_ACCOUNT_ID,
        network=cloud_network(public=False, endpoints=("ecr.api",), zones=(ZONE,)),
    )


def plant(cloud: Any) -> dict[str, str]:
    """Make what a scan must find, in a network of its own; returns id -> what it is."""
    ec2, s3, iam = (cloud.client(service) for service in SERVICES)
    subnet = cloud.subnet(ec2)
    vpc = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    around = [{"Name": "vpc-id", "Values": [vpc]}]
    beside = {row["GroupId"]: "network" for row in ec2.describe_security_groups(Filters=around)["SecurityGroups"]}
    beside |= {row["NetworkAclId"]: "network" for row in ec2.describe_network_acls(Filters=around)["NetworkAcls"]}
    volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    group = ec2.create_security_group(GroupName="planted", Description="planted", VpcId=vpc)["GroupId"]
    ec2.authorize_security_group_ingress(GroupId=group, IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="0.0.0.0/0")
    instance = cloud.run(ec2, subnet, SecurityGroupIds=[group], MetadataOptions={"HttpTokens": "optional"})
    cloud.settle(instance)
    s3.create_bucket(Bucket="planted-bucket")
    nobody = json.dumps({"Version": "2012-10-17", "Statement": []})
    iam.create_role(RoleName="planted-role", AssumeRolePolicyDocument=nobody)
    everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    iam.put_role_policy(RoleName="planted-role", PolicyName="all", PolicyDocument=json.dumps(everything))
    rows = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"]
    disks = {disk["Ebs"]["VolumeId"]: "root volume" for disk in rows[0]["BlockDeviceMappings"] if "Ebs" in disk}
    return {
        **beside,
        **disks,
        vpc: "network",
        volume: "volume",
        group: "security group",
        instance: "instance",
        "planted-bucket": "bucket",
        "planted-role": "role",
    }


if __name__ == "__main__":
    sys.exit(main())
