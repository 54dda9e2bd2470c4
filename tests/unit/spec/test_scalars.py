"""Single values: what each check takes and what it refuses."""

import pytest

from gpuprov.spec.scalars import CHECKS

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEJ5sDNEYFH/sMg4bvGOLgC0dsmB+WVgoQpFYgSY8YB+"
CASES = {
    "constraint": (["580.*", "580.95.05", ">=570,<590", "*", "=1:4.6.0-1"], ["", "latest", "580.x", "~580", ">="]),
    "driver": (
        ["580.*", "580", "580.95.05", "=580.95.05-1", "580.95.05-0ubuntu0.22.04.1", ">=570,<590", "*", ">=580, <590"],
        ["", "latest", "580.x", "580.95a", "1:580.95", "580.95.05+dfsg", "=580.abc"],
    ),
    "release": (["13.0", "12.10"], ["13", "13.0.1", "13.*", "x"]),
    "mode": (["644", "0644", "4755"], ["0689", "64", "06444", "rw-r--r--"]),
    "path": (["/etc/motd", "/a"], ["etc", "/", "/a/", "/a//b", "/a/../b", "/a/./b", "/a\nb", ""]),
    "url": (
        ["http://h/", "https://h.example:8080/a/b", "file:///srv/x"],
        [
            "h",
            "ftp://h/",
            "https://u@h/",
            "https://u:p@h/",
            "http://",
            "file://h/x",
            "http://h/ x",
            "http://h/?a",
            "http://ü/",
        ],
    ),
    "batch": (["1", "12", "1%", "100%"], ["0", "0%", "101%", "1.5", "-1", "all", "٣"]),
    "date": (["2027-03-01"], ["2027-3-1", "2027-02-30", "20270301", "soon"]),
    "facet": (
        ["host.os", "package[*].version", 'package["docker.io"].version', 'file["/etc/motd"].sha256'],
        ["host", "package", "package.version", "host.kernle.release"],
    ),
    "command": (["nvidia-smi -L"], ["", " ", "a\nb"]),
    "name": (["train", "a", "gpu-01", "a.b_c"], ["Train", "-a", "a-", "a b", "ä", "", "a" * 64]),
    "package": (["htop", "libc6", "g++", "cuda-toolkit-13-0"], ["HTop", "a", "a b", "htop=1", "-x"]),
    "user": (["root", "_apt", "www-data"], ["Root", "0x", "a:b", ""]),
    "word": (["debian-12", "H100-SXM5-80GB", "stable/updates"], ["", " a", "a b", "-a"]),
    "login": (["ana", "_a", "a-b", "a" * 31], ["root", "Ana", "0a", "a.b", "a$", "", "a" * 32]),
    "ssh_key": (
        [KEY, f"{KEY} ana@desk", f"  {KEY}"],
        ["", "ssh-dss AAAA", KEY[:-4], KEY.replace("ssh-ed25519", "ssh-rsa"), "ssh-ed25519 !!", f"{KEY}\n{KEY}"],
    ),
    "sudo": (
        ["/usr/bin/nvidia-smi", "/bin/systemctl restart x*"],
        ["ls", "ALL", "/", "/bin/a \\,", '/bin/a "b"', "/a\nb"],
    ),
    "sysctl": (["vm.swappiness", "net.ipv4.conf.all.rp_filter"], ["swappiness", "vm/swappiness", "vm.a b", "vm.", ""]),
    "setting": (["10", "4096 131072 6291456"], ["", " ", "1\n2"]),
    "limit": (["memlock", "nofile"], ["memloc", "", "memlock "]),
    "limit_value": (["unlimited", "-1", "65536"], ["lots", "", "1.5"]),
    "label": (["train-a", "a", "0", "a" * 63], ["", "-a", "a-", "a.b", "a_b", "A", "a" * 64]),
    "role": (["gpu-hosts", "a", "A+=,.@_-1", "a" * 64], ["", "a b", "team/gpu", "arn:aws:iam::1:role/a", "a" * 65]),
    "policy_arn": (
        [
            "arn:aws:iam::111122223333:policy/team",
            "arn:aws-cn:iam::111122223333:policy/a/b",
            "arn:aws:iam::aws:policy/X",
        ],
        [
            "",
            "team",
            "arn:aws:iam::111122223333:role/team",
            "arn:aws:iam::1:policy/team",
            "arn:aws:iam::111122223333:policy/",
        ],
    ),
    "storage": (["datasets", "a" * 32], ["", "a.b", "a_b", "A", "a" * 33]),
    "cidr": (
        ["10.20.0.0/16", "203.0.113.7/32", "0.0.0.0/0"],
        [
            "",
            "10.20.0.0",
            "10.20.0.1/16",
            "10.20.0.0/33",
            "10.20.0.0/255.255.0.0",
            "010.20.0.0/16",
            "::/0",
            "fd00::/8",
            "x/8",
        ],
    ),
    "reservation": (
        ["cr-0123456789abcdef0", "cr-01234567"],
        ["", "cr-", "cr-0123456G", "r-0123456789abcdef0", "cr-0123456789abcdef0 "],
    ),
    "group_arn": (
        ["arn:aws:resource-groups:us-east-1:111122223333:group/gpu"],
        ["", "gpu", "arn:aws:iam::111122223333:group/gpu", "arn:aws:resource-groups:us-east-1:1:group/gpu"],
    ),
    "price": (["12.50", "1", "0.0321"], ["", "0", "0.0", "12,50", "$12", "-1", "1e3"]),
    "vpc": (["vpc-0123456789abcdef0", "vpc-01234567"], ["", "vpc-", "subnet-01234567", "vpc-0123456X"]),
    "subnet": (["subnet-0123456789abcdef0", "subnet-01234567"], ["", "subnet-", "vpc-01234567", "subnet-0123456X"]),
    "tag": (["Name", "aws:cloudformation:stack-name", "a b", "a" * 127], ["", "a" * 128, "a*", "a\nb"]),
    "service": (["ecr.api", "ecr.dkr", "sts", "ssmmessages"], ["", "s3:x", "ECR", "ecr..api", "ecr api"]),
    "place": (["jump.example", "10.0.0.5", "bastion-1"], ["", "-a", "a b", "user@jump", "jump:22"]),
    "account": (["111122223333", "000000000001"], ["", "11112222333", "1111222233334", "1111-2222-3333", "a" * 12]),
    "arn": (
        ["arn:aws:iam::111122223333:role/ops", "arn:aws-us-gov:iam::111122223333:role/a/b@c"],
        ["", "ops", "arn:aws:iam::111122223333:user/ops", "arn:aws:iam::1:role/ops", "arn:aws:iam::111122223333:role/"],
    ),
    "region": (
        ["us-east-1", "us-gov-west-1", "ap-southeast-2", "eusc-de-east-1"],
        ["", "us-east-1a", "east", "US-EAST-1"],
    ),
    "backend": (
        ["local", "s3://states", "s3://example-states/gpu/train", "s3://a.b-c/x/"],
        ["", "s3://", "s3://ab", "s3://A-b", "gs://states", "s3://states?region=x", "s3://states//x", "file:///x"],
    ),
    "secrets": (
        [
            "passphrase",
            "awskms://alias/gp",
            "awskms://1234abcd-12ab-34cd-56ef-1234567890ab",
            "awskms:///arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        ],
        ["", "awskms://", "awskms://gp", "awskms://alias/gp?region=x", "gcpkms://k", "awskms://arn:aws:kms:x:1:key/k"],
    ),
    "size": (["1GiB", "500GiB", "64TiB"], ["", "0GiB", "500", "500GB", "500 GiB", "1.5TiB", "65TiB", "65537GiB"]),
    "nfs_server": (["nfs.example", "10.0.0.5", "a"], ["", "-a", "a_b", "a:b", "[::1]", "a b"]),
    "nfs_export": (["/", "/srv/data", "/a.b/c-d"], ["", "srv", "/srv/", "/a//b", "/a b", "/a,b", "/a\\b"]),
    "mount_option": (["ro", "nconnect=4", "nfsvers=4.2", "sec=krb5p"], ["", "ro,rw", "a b", "a=", "Ro", "=4"]),
    "prefix": (
        ["runs/", "a/b/", "year=2026/"],
        ["", "/", "runs", "/runs/", "a//b/", "a/../b/", "r*/", "${aws:username}/"],
    ),
    "login_key": (["agent", "keys/ana.pub", "/home/ana/.ssh/id.pub"], ["", " ", "ssh-ed25519 AAAA", "a\nb"]),
    "mig": (["1g.10gb", "7g.80gb", "1g.10gb+me"], ["", "1g", "10gb", "1g.10gib", "g.10gb", "1g.10gb "]),
    "rule": (["GP-RULE-001", "GP-RULE-900"], ["", "GP-RULE-1", "GP-RULE-999", "GP-SPEC-001", "gp-rule-001"]),
    "python": (
        ["2.9.1", "2.9.*", "==2.9.*", ">=2.8,<3", "~=2.9", "!=2.9.0, >=2", "2.9.1+cu130", "2.10.0rc1", "1!2", "*"],
        ["", "latest", "2.9.x", "^2.9", "=2.9", ">=2.*", "~=2.9.*", "2.9.1+cu130.*", "==2.9 || ==3", "v2"],
    ),
    "requirement": (
        ["torch", "jax[cuda13]", "jax[cuda13,k8s]", "ray-core", "a1"],
        ["", "Torch", "a_b", "-a", "a-", "jax[]", "jax [cuda13]", "torch==2.9", "torch @ https://h/x.whl", "a; b"],
    ),
    "kernel": (
        ["hold", "free", "6.8.0-60-generic", "6.1.0-37-cloud-amd64", "6.12.43+deb13-amd64", "5.15.0-1084-aws"],
        ["", "held", "6.8", "6.8.0", "6.8.0-60", "linux-image-6.1.0-37-amd64", "6.1.0-37-amd64 ", '6.1.0-37-amd64"; x'],
    ),
    "duration": (["0s", "90s", "30m", "2h", "30d"], ["", "90", "1.5h", "-1s", "1w", "31d", "090s", "1h30m"]),
    "window": (
        ["22:00-06:00", "sat,sun 22:00-06:00 local", "mon 00:00-24:00"],
        ["", "22-06", "22:00-22:00", "24:00-06:00", "22:60-06:00", "sat,sat 22:00-06:00", "someday 22:00-06:00"],
    ),
    "ami": (["ami-1a2b3c4d", "ami-0123456789abcdef0"], ["", "ami-", "ami-0BASE000", "ami-0123456789", "latest"]),
    "image_owner": (["136693071363", "self", "amazon"], ["", "debian", "13669307136", "aws-marketplace"]),
    "image_name": (["debian-12-amd64-*", "My (golden) AMI v1.?"], ["", "ab", "a,b", "a;b", "x" * 129]),
    "parameter": (
        ["/golden", "/aws/service/debian/release/12/latest/amd64", "/golden/debian:3"],
        ["", "golden", "/", "/a//b", "/a/", "/a:latest", "/a b", "/a" * 16],
    ),
    "tag_key": (["team", "Team name", "aws:autoscaling:groupName", "a/b@c"], ["", "gpuprov:pool", "a*", "x" * 129]),
    "instance_id": (["i-1a2b3c4d", "i-0123456789abcdef0"], ["", "i-", "train-a", "i-0123456789ABCDEF0"]),
    "fingerprint": (
        ["SHA256:uNiVztksCsDhcc0u9e8BrfJXmxpqAbKxZbOnzmgTfSg"],
        ["", "MD5:16:27:ac", "uNiVztksCsDhcc0u9e8BrfJXmxpqAbKxZbOnzmgTfSg", "SHA256:short"],
    ),
    "text": (["x"], ["", "  "]),
    "content": (["", "x\n"], []),
    "file": (["keys/a.asc", "/a"], ["", " ", "a\nb"]),
}


@pytest.mark.parametrize("name", CASES)
def test_check(name: str) -> None:
    good, bad = CASES[name]
    assert [text for text in good if CHECKS[name].refuse(text)] == []
    assert [text for text in bad if not CHECKS[name].refuse(text)] == []


def test_every_check_has_cases() -> None:
    assert set(CHECKS) - set(CASES) == {"", "api"}
