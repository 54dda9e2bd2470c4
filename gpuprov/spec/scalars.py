"""The checks of single values: for each the words for what is expected, whether it must be quoted, and the test."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from gpuprov.model.address import pattern_of
from gpuprov.model.codes import CODES
from gpuprov.model.version import Constraint
from gpuprov.spec.addresses import refuse_range
from gpuprov.spec.cloud_network import PLACE, SERVICE, SUBNET, VPC, refuse_tag
from gpuprov.spec.cloud_state import BACKEND, SECRETS
from gpuprov.spec.keys import LIMIT, LIMIT_VALUE, SYSCTL, refuse_key, refuse_login, refuse_setting, refuse_sudo
from gpuprov.spec.market import GROUP_ARN, PRICE, RESERVATION_ID
from gpuprov.spec.sizes import refuse_size
from gpuprov.spec.storage import EXPORT, OPTION, SERVER
from gpuprov.spec.times import refuse_duration, refuse_window


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of text."""

    expected: str
    """What is expected, in words; ends an error's detail."""
    refuse: Callable[[str], str]
    """Empty for a good text, else what is wrong with it."""
    quoted: bool = False
    """Whether the text must be quoted, because YAML changes texts of this kind when they are not."""
    tags: tuple[str, ...] = ("str",)
    """What YAML may take the unquoted text for."""
    pattern: str = ""
    """The same rule for the JSON schema, where a regular expression says all of it."""


def _fits(pattern: str, what: str) -> Callable[[str], str]:
    # Compiled when a text is asked about, and then kept by `re`: a spec has a few of these kinds, and every run would
    # wait for all of them.
    return lambda text: "" if re.fullmatch(pattern, text) else what


def _constraint(text: str) -> str:
    if not text.strip():
        return "the version is empty"
    if re.search(r"\.[xX]$", text.strip()):
        return f"{text} is no version; a part that is open is written *: {text.strip()[:-1]}*"
    try:
        Constraint.parse(text)
    except ValueError as error:
        return str(error)
    return ""


def _driver(text: str) -> str:
    """A constraint on a driver: what it fixes must be numbers with dots, as all driver versions are."""
    problem = _constraint(text)
    if problem:
        return problem
    fixed = [part.strip() for part in text.split(",") if not part.strip().startswith((">", "<"))]
    if all(re.fullmatch(_DRIVER, part) for part in fixed):
        return ""
    return f"{text} is no driver version: numbers with dots, such as 580.95.05"


_DRIVER: Final = r"(==?\s*)?[0-9]+(\.[0-9]+)*(\.\*|-[A-Za-z0-9.+~]+)?|\*"


def _path(text: str) -> str:
    if not text.startswith("/"):
        return f"the path {text} is not absolute"
    if any(part in {"", ".", ".."} for part in text.split("/")[1:]):
        return f"the path {text} has an empty part, a . or a .., or ends with /"
    return "" if text.isprintable() else "the path holds a character that cannot be printed"


def _file(text: str) -> str:
    return (
        "" if text.strip() and text.isprintable() else "the path is empty or holds a character that cannot be printed"
    )


def _url(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    if not separator or scheme not in {"http", "https", "file"}:
        return "the URL does not begin with http://, https:// or file://"
    if not text.isascii() or not text.isprintable() or " " in text:
        return "the URL holds a blank, or a character that is not ASCII"
    if "?" in rest or "#" in rest:
        return "the URL has a query or a fragment; a repository's root has none"
    host = rest.partition("/")[0]
    if "@" in host:
        return "the URL holds a user or a password"
    if scheme == "file":
        return "" if not host else "a file URL has three slashes: file:///path"
    return "" if host else "the URL names no host"


def _batch(text: str) -> str:
    if re.fullmatch(r"[1-9][0-9]{0,4}", text) or re.fullmatch(r"([1-9][0-9]?|100)%", text):
        return ""
    return f"the batch is {text}"


def _date(text: str) -> str:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            date.fromisoformat(text)
        except ValueError:
            return f"there is no day {text}"
        return ""
    return f"{text} is no date"


def _facet(text: str) -> str:
    from gpuprov.model.facets import BY_PATTERN  # noqa: PLC0415 - a long table, and most specs waive nothing

    if text in BY_PATTERN or pattern_of(text) in BY_PATTERN:
        return ""
    return f"there is no facet {text}"


def _rule(text: str) -> str:
    if re.fullmatch(r"GP-RULE-[0-9]{3}", text) and text in CODES:
        return ""
    return f"there is no rule {text}"


def _text(text: str) -> str:
    return "" if text.strip() else "the text is empty"


def _command(text: str) -> str:
    if "\n" in text.strip() or "\0" in text:
        return "the command has several lines"
    return "" if text.strip() else "the command is empty"


def _login_key(text: str) -> str:
    if text.startswith(("ssh-", "ecdsa-", "sk-")) and " " in text:
        return "the key itself stands here, and the path of its file is expected"
    return _file(text)


def _python(text: str) -> str:
    """A Python version, a prefix, or comparisons, as PEP 440 writes them."""
    parts = [part.strip() for part in text.split(",")]
    if all(re.fullmatch(_PYTHON_CLAUSE, part) for part in parts):
        return ""
    return f"{text or 'the empty text'} is no version of a Python package"


# PEP 440, version specifiers; a bare version means exactly that one.
_PYTHON_VERSION: Final = (
    r"([0-9]+!)?[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?"
)
_PYTHON_CLAUSE: Final = rf"((==|!=)?\s*[0-9]+(\.[0-9]+)*\.\*|(==|!=|~=|>=|<=|>|<)?\s*{_PYTHON_VERSION}|\*)"
_ACCOUNT: Final = r"[0-9]{12}"
_AMI: Final = r"ami-([0-9a-f]{8}|[0-9a-f]{17})"
_IMAGE_OWNER: Final = r"[0-9]{12}|self|amazon"
# EC2 API Reference, CreateImage, Name (seen 2026-11-30), and the two wildcards of DescribeImages' filters.
_IMAGE_NAME: Final = r"[A-Za-z0-9()\[\] ./'@_*?-]{3,128}"
# Systems Manager API Reference, PutParameter, Name (seen 2026-11-30); a version may stand behind it.
_PARAMETER: Final = r"(/[A-Za-z0-9_.-]+){1,15}(:[0-9]+)?"
# EC2 User Guide, Tag restrictions (seen 2026-11-30).
_TAG_KEY: Final = r"(?!gpuprov:)[A-Za-z0-9 +=._:/@-]{1,128}"
_INSTANCE_ID: Final = r"i-([0-9a-f]{8}|[0-9a-f]{17})"
_FINGERPRINT: Final = r"SHA256:[A-Za-z0-9+/]{43}"
_ARN: Final = r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+"
_POLICY_ARN: Final = r"arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9+=,.@_/-]+"
_ROLE: Final = r"[A-Za-z0-9+=,.@_-]{1,64}"
# As `uname -r` prints it: three numbers, then what the OS adds, with the flavour at the end.
_KERNEL: Final = r"hold|free|[0-9]+\.[0-9]+\.[0-9]+[0-9a-z.+~-]*-[0-9a-z-]*[a-z][0-9a-z-]*"
_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PREFIX: Final = r"([A-Za-z0-9][A-Za-z0-9_.=-]*/)+"
_REGION: Final = r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}"
_STORAGE: Final = r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?"
_NAME: Final = r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?"
_PACKAGE: Final = r"[a-z0-9][a-z0-9+.-]+"
_RELEASE: Final = r"[1-9][0-9]?\.[0-9]{1,2}"
_MIG: Final = r"[1-7]g\.[1-9][0-9]{0,2}gb[+a-z.-]*"
_MODE: Final = r"[0-7]{3,4}"
# PEP 503 and 508: the normalised name of a project, with extras.
_REQUIREMENT: Final = r"[a-z0-9]+(-[a-z0-9]+)*(\[[a-z0-9]+(-[a-z0-9]+)*(,[a-z0-9]+(-[a-z0-9]+)*)*\])?"
_USER: Final = r"[a-z_][a-z0-9_-]{0,30}\$?"
_WORD: Final = r"[A-Za-z0-9][A-Za-z0-9._/-]*"

CHECKS: Final[dict[str, Check]] = {
    "": Check("a text", _text),
    "text": Check("a text", _text),
    "content": Check("a text", lambda _: ""),
    "api": Check("a text", lambda _: ""),
    "constraint": Check(
        'a version ("580.95.05"), a prefix ("580.*") or comparisons (">=570,<590")', _constraint, quoted=True
    ),
    "driver": Check(
        'a version ("580.95.05"), a prefix ("580.*") or comparisons (">=580.95,<590")', _driver, quoted=True
    ),
    "release": Check(
        'a release as major.minor, such as "13.0"',
        _fits(_RELEASE, "the release is not major.minor"),
        quoted=True,
        pattern=_RELEASE,
    ),
    "kernel": Check(
        "hold, free, or the release of a kernel, such as 6.8.0-60-generic",
        _fits(_KERNEL, "no kernel has such a release"),
        pattern=_KERNEL,
    ),
    "mig": Check("a MIG profile, such as 1g.10gb", _fits(_MIG, "no MIG profile has such a name"), pattern=_MIG),
    "mode": Check(
        'three or four octal digits, such as "0644"', _fits(_MODE, "the mode is not octal"), quoted=True, pattern=_MODE
    ),
    "path": Check("an absolute path, such as /etc/motd", _path),
    "file": Check("a path, absolute or relative to the spec", _file),
    "url": Check("a URL, such as https://mirror.example/apt", _url),
    "batch": Check("a number of hosts from 1, or a percentage up to 100%", _batch, tags=("str", "int")),
    "date": Check("a date as YYYY-MM-DD", _date, tags=("str", "timestamp")),
    "facet": Check('an address or pattern of a facet, such as host.kernel.release or package["htop"].version', _facet),
    "rule": Check("the code of a rule, such as GP-RULE-004", _rule),
    "command": Check("a command in one line", _command),
    "name": Check(
        "small letters, digits, and . _ - between them", _fits(_NAME, "the name has other characters"), pattern=_NAME
    ),
    "package": Check("a Debian package's name", _fits(_PACKAGE, "no Debian package has such a name"), pattern=_PACKAGE),
    "python": Check(
        'a version ("2.9.1"), a prefix ("2.9.*") or comparisons (">=2.8,<3")',
        _python,
        quoted=True,
    ),
    "requirement": Check(
        "a Python package's name in small letters, digits and -, with extras in brackets where wanted: jax[cuda13]",
        _fits(_REQUIREMENT, "no Python package is written like this"),
        pattern=_REQUIREMENT,
    ),
    "user": Check("a user's or a group's name", _fits(_USER, "no user or group has such a name"), pattern=_USER),
    "cidr": Check("a range of IPv4 addresses, such as 203.0.113.0/24", refuse_range),
    "reservation": Check(
        "the id of a capacity reservation, such as cr-0123456789abcdef0",
        _fits(RESERVATION_ID, "no capacity reservation has such an id"),
        pattern=RESERVATION_ID,
    ),
    "group_arn": Check(
        "the ARN of a resource group",
        _fits(GROUP_ARN, "it is no ARN of a resource group"),
        quoted=True,
        pattern=GROUP_ARN,
    ),
    "price": Check('US dollars an hour, such as "12.50"', _fits(PRICE, "it is no price"), quoted=True, pattern=PRICE),
    "vpc": Check("the id of a VPC", _fits(VPC, "no VPC has such an id"), pattern=VPC),
    "subnet": Check("the id of a subnet", _fits(SUBNET, "no subnet has such an id"), pattern=SUBNET),
    "tag": Check("a tag's key or value, as EC2 takes it: 1 to 127 characters", refuse_tag),
    "service": Check(
        "the name of an AWS service, as it ends the name of its endpoint service: ecr.api",
        _fits(SERVICE, "no service has such a name"),
        pattern=SERVICE,
    ),
    "place": Check("a host's name or address", _fits(PLACE, "no host has such a name"), pattern=PLACE),
    "account": Check(
        'the twelve digits of an account, such as "111122223333"',
        _fits(_ACCOUNT, "an account has twelve digits"),
        quoted=True,
        pattern=_ACCOUNT,
    ),
    "ami": Check(
        "the id of a machine image, such as ami-0123456789abcdef0", _fits(_AMI, "no image has such an id"), pattern=_AMI
    ),
    "image_owner": Check(
        'the twelve digits of an account, such as "136693071363", or self or amazon',
        _fits(_IMAGE_OWNER, "no account publishes images under this name"),
        pattern=_IMAGE_OWNER,
    ),
    "image_name": Check(
        "the name of a machine image, which may hold * and ?",
        _fits(_IMAGE_NAME, "no image has such a name"),
        pattern=_IMAGE_NAME,
    ),
    "tag_key": Check(
        "the key of a tag, which does not begin with gpuprov:",
        _fits(_TAG_KEY, "no tag of other people's instances has such a key"),
        pattern=_TAG_KEY,
    ),
    "instance_id": Check(
        "the id of an instance, such as i-0123456789abcdef0",
        _fits(_INSTANCE_ID, "no instance has such an id"),
        pattern=_INSTANCE_ID,
    ),
    "fingerprint": Check(
        "the fingerprint of a host key, SHA256: and 43 letters, as `ssh-keygen -lf` prints it",
        _fits(_FINGERPRINT, "no key has such a fingerprint"),
        pattern=_FINGERPRINT,
    ),
    "parameter": Check(
        "the whole name of a parameter, such as /aws/service/debian/release/12/latest/amd64",
        _fits(_PARAMETER, "no parameter has such a name"),
        pattern=_PARAMETER,
    ),
    "arn": Check("the ARN of a role", _fits(_ARN, "no role has such an ARN"), pattern=_ARN),
    "policy_arn": Check("the ARN of a policy", _fits(_POLICY_ARN, "no policy has such an ARN"), pattern=_POLICY_ARN),
    "role": Check(
        "the name of a role, without its path: letters, digits and + = , . @ _ -, at most 64",
        _fits(_ROLE, "no role has such a name"),
        pattern=_ROLE,
    ),
    "region": Check("a region, such as us-east-1", _fits(_REGION, "no region has such a name"), pattern=_REGION),
    "label": Check(
        "small letters, digits, and - between them, at most 63",
        _fits(_LABEL, "no host can have this name in DNS"),
        pattern=_LABEL,
    ),
    "backend": Check(
        "local, or a bucket with a prefix, such as s3://example-states/train",
        _fits(BACKEND, "the state can be kept in files or in a bucket of S3"),
        pattern=BACKEND,
    ),
    "secrets": Check(
        "passphrase, or a key of AWS KMS by its alias, its id or its ARN, such as awskms://alias/gpuprov",
        _fits(SECRETS, "neither a passphrase nor a key of AWS KMS is meant by it"),
        pattern=SECRETS,
    ),
    "storage": Check(
        "small letters, digits, and - between them, at most 32",
        _fits(_STORAGE, "a bucket's name cannot hold this name"),
        pattern=_STORAGE,
    ),
    "nfs_server": Check(
        "the name or IPv4 address of a server", _fits(SERVER, "no server has such a name"), pattern=SERVER
    ),
    "nfs_export": Check(
        "the path of an export, such as /srv/data", _fits(EXPORT, "no export is written like this"), pattern=EXPORT
    ),
    "mount_option": Check(
        "one option of mount(8), such as ro or nconnect=4",
        _fits(OPTION, "no mount option is written like this"),
        pattern=OPTION,
    ),
    "size": Check("a size in GiB or TiB, such as 500GiB", refuse_size, tags=("str", "int")),
    "duration": Check("a length of time up to 30 days, such as 90s, 30m, 2h or 1d", refuse_duration),
    "window": Check(
        'hours as HH:MM-HH:MM, after days where not all are meant, such as "sat,sun 22:00-06:00 local"', refuse_window
    ),
    "prefix": Check(
        "names of folders, each ending with /, such as runs/",
        _fits(_PREFIX, "the prefix does not end with /, or holds other characters than letters, digits and _ . = -"),
        pattern=_PREFIX,
    ),
    "login": Check("a user's or a group's name", refuse_login),
    "ssh_key": Check("a public SSH key in one line, as `ssh-keygen -y` prints it", refuse_key),
    "sudo": Check("a command with its absolute path, such as /usr/bin/nvidia-smi", refuse_sudo),
    "sysctl": Check(
        "the name of a kernel setting, such as vm.swappiness",
        _fits(SYSCTL, "no kernel setting has such a name"),
        pattern=SYSCTL,
    ),
    "setting": Check("a value as text", refuse_setting, tags=("str", "int")),
    "limit": Check("an item of limits.conf(5), such as memlock", _fits(LIMIT, "there is no such limit"), pattern=LIMIT),
    "limit_value": Check(
        "unlimited, or a number", _fits(LIMIT_VALUE, "the limit is no number"), tags=("str", "int"), pattern=LIMIT_VALUE
    ),
    "login_key": Check("agent, or the path of a public key's file", _login_key),
    "word": Check(
        "a word of letters, digits and . _ / -", _fits(_WORD, "the word has other characters"), pattern=_WORD
    ),
}
