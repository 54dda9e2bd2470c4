"""Stack documents for tests of the engine's runner: small, and of the real form."""

from typing import Any


def tags(kind: str, name: str, *, pool: str = "") -> dict[str, str]:
    """The tags of one resource of the stack `train`."""
    given = {"Name": name, "gpuprov:spec": "train", "gpuprov:id": f"train/{kind}/{name}"}
    return given | ({"gpuprov:pool": pool} if pool else {})


def document(*hosts: str, volumes: tuple[str, ...] = (), buckets: tuple[str, ...] = ()) -> dict[str, Any]:
    """A document with a VPC, one subnet, hosts, volumes (`scratch/HOST`) and buckets."""
    return {
        "kind": "StackDocument",
        "apiVersion": "gpuprov/v1",
        "spec": "train",
        "stack": "train",
        "region": "us-east-1",
        "network": _NETWORK if hosts else None,
        "security_group": _GROUP if hosts else None,
        "placement_groups": [],
        "launch_templates": [],
        "identity": None,
        "pool_identities": [],
        "buckets": [_bucket(name) for name in buckets],
        "volumes": [_volume(name, hosts) for name in volumes],
        "shares": [],
        "share_access": None,
        "instances": [instance(name) for name in hosts],
    }


def instance(name: str, *, type_: str = "g6.xlarge") -> dict[str, Any]:
    """One host."""
    return {
        "name": name,
        "pool": "train",
        "type": type_,
        "image": "ami-0123456789abcdef0",
        "zone": "us-east-1a",
        "subnet": "us-east-1a",
        "root_gib": 50,
        "root_tags": tags("root", name),
        "hop_limit": 2,
        "placement_group": None,
        "launch_template": None,
        "identity": None,
        "instance_profile": None,
        "market": None,
        "user_data": "#cloud-config\n",
        "replace": False,
        "tags": tags("instance", name, pool="train"),
    }


_NETWORK = {
    "cidr": "10.7.0.0/16",
    "vpc": None,
    "public": False,
    "subnets": [
        {
            "name": "us-east-1a",
            "id": None,
            "cidr": "10.7.0.0/20",
            "zone": "us-east-1a",
            "tags": tags("subnet", "us-east-1a"),
        }
    ],
    "tags": tags("vpc", "main"),
    "gateway": None,
    "route_table": {"tags": tags("route_table", "main")},
    "nats": [],
    "endpoints": [],
}
_GROUP = {
    "name": "gpuprov-train",
    "description": "hosts of train",
    "ingress": [],
    "egress": [],
    "tags": tags("security_group", "main"),
}


def _volume(name: str, hosts: tuple[str, ...]) -> dict[str, Any]:
    host = name.partition("/")[2]
    attached = host if host in hosts else None
    return {
        "name": name,
        "zone": "us-east-1a",
        "size_gib": 100,
        "iops": None,
        "throughput": None,
        "host": attached,
        "device": "/dev/sdf" if attached else None,
        "tags": tags("volume", name),
    }


def _bucket(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "bucket": f"train-{name}-111122223333-us-east-1",
        "force_destroy": False,
        "policy": {"Version": "2012-10-17", "Statement": []},
        "unfinished_days": 7,
        "tags": tags("bucket", name),
    }
