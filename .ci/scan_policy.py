"""Has two scanners read the policies that gpuprov prints and makes; a finding without an answer here fails.

parliament and cloudsplaining have an environment of their own below .cache. Run it as
`.venv/bin/python .ci/scan_policy.py`; the policies are those of a spec that uses everything.
"""

import json
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuprov.cloud.decide.grants import COMMANDS, Ground
from gpuprov.cloud.decide.identity import host_policy, tls_policy
from gpuprov.cloud.decide.operator import operator_policy
from gpuprov.spec.storage import StorageSpec

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "scan-policy"
SCANNERS = ("parliament==1.6.4", "cloudsplaining==0.9.1", "setuptools<81")
QUIET = "There were no results found."


@dataclass(frozen=True)
class Answer:
    """Why a finding stands."""

    finding: str
    """A pattern over parliament's issue and its detail."""
    why: str


ANSWERS = (
    Answer(
        r"^RESOURCE_MISMATCH (ec2:(RunInstances|CreateImage) on \S+(, )?)+$",
        "several statements together allow the parts of one call: what is new by its tag, what it joins by another",
    ),
    Answer(
        r"^RESOURCE_STAR elasticfilesystem:DescribeMountTargets$",
        "who ends a mount target asks for it until it is gone, and belongs to no file system; a look, in one region",
    ),
    Answer(
        r"RESOURCE_POLICY_PRIVILEGE_ESCALATION",
        "who makes a bucket writes its policy and its life cycle, and could write others: it is an operator's",
    ),
    Answer(
        r"UNKNOWN_CONDITION_FOR_ACTION .*kms:ResourceAliases",
        "AWS KMS Developer Guide, Condition keys, kms:ResourceAliases: all operations on a key (read 2026-11-30)",
    ),
)


def policies() -> dict[str, Any]:
    """Name -> policy, of everything that gpuprov prints or makes."""
    ground = Ground(
        spec="train",
        account="111122223333",
        region="us-east-1",
        types=("p5.48xlarge",),
        builder="c7i.2xlarge",
        images=("ami-0123456789abcdef0",),
        volumes=True,
        buckets=("train-data-111122223333-us-east-1",),
        roles=("gpuprov-train-us-east-1",),
        brought=("web",),
        boundary="arn:aws:iam::111122223333:policy/team",
        nat=True,
        services=True,
        placement=True,
        spot=True,
        shares=True,
        existing_tags=({"team": "ml"},),
        reservations=("cr-0123456789abcdef0",),
        reservation_groups=("arn:aws:resource-groups:us-east-1:111122223333:group/gpus",),
        parameters=("/golden/debian-12", "/aws/service/debian/release/12/latest/amd64"),
        state=("states", "gpu/train"),
        key="awskms://alias/gp",
        delete_data=True,
    )
    buckets = {"data": ground.buckets[0]}
    storage = {"data": StorageSpec(kind="object", prefixes=("runs/",))}
    made = {f"operator-{command}": operator_policy(ground, (command,)) for command in COMMANDS}
    made["operator"] = operator_policy(ground, COMMANDS)
    made["hosts"] = host_policy(storage, buckets, ground.region)
    return made


def main() -> int:
    """Scan, print each finding with its answer, and return the exit status."""
    if not (HOME / "bin" / "parliament").exists():
        venv.create(HOME, with_pip=True)
        subprocess.run((HOME / "bin" / "pip", "install", "--quiet", *SCANNERS), check=True)
    open_findings = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, policy in policies().items():
            path = Path(folder) / f"{name}.json"
            path.write_text(json.dumps(policy, indent=1), encoding="utf-8")
            for finding in (*_parliament(path), *_cloudsplaining(path)):
                answer = next((one.why for one in ANSWERS if re.search(one.finding, finding)), None)
                open_findings += answer is None
                print(f"{name}: {finding[:200]}\n  {'answer: ' + answer if answer else 'NO ANSWER'}")
        bucket = Path(folder) / "bucket.json"
        bucket.write_text(json.dumps(tls_policy("train-data", "us-east-1")), encoding="utf-8")
        for finding in _parliament(bucket):
            open_findings += 1
            print(f"bucket: {finding}\n  NO ANSWER")
    print(f"{open_findings} finding(s) without an answer")
    return 1 if open_findings else 0


def _parliament(path: Path) -> list[str]:
    done = subprocess.run(
        (HOME / "bin" / "parliament", "--files", path, "--json"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stderr.strip():
        raise RuntimeError(done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    return [f"{row['issue']} {_each(row['detail'])}" for row in rows]


def _each(detail: Any) -> str:
    """What a finding is about, sorted: parliament gives rows, names, or a text."""
    if isinstance(detail, str):
        return detail
    return ", ".join(
        sorted(f"{row['action']} on {row['required_format']}" if isinstance(row, dict) else row for row in detail)
    )


def _cloudsplaining(path: Path) -> list[str]:
    done = subprocess.run(
        (HOME / "bin" / "cloudsplaining", "scan-policy-file", "--input-file", path),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not done.stdout.strip():
        raise RuntimeError(done.stderr or "cloudsplaining said nothing")
    return [] if QUIET in done.stdout else [f"cloudsplaining {' '.join(done.stdout.split())}"]


if __name__ == "__main__":
    sys.exit(main())
