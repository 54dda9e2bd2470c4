"""Versions: Debian's order, a driver's upstream version, and the constraints that a spec may write.

Two questions have two answers: `compare` orders packages (epoch and Debian revision count), `compare_driver` orders
drivers (only the upstream part counts, field by field). Neither ever rewrites the text: `440.33.01` stays `440.33.01`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Final

SortKey = tuple[int, tuple[tuple[int, ...] | int, ...], tuple[tuple[int, ...] | int, ...]]
"""Orders as dpkg does: epoch, upstream part, revision; the parts alternate text and number."""

# deb-version(7), dpkg 1.21: what `dpkg --validate-version` accepts. ASCII only: `\d` would take other digits.
_VALID: Final = re.compile(r"(?:([0-9]+):)?([0-9][A-Za-z0-9.+~:-]*?)(?:-([A-Za-z0-9.+~]+))?")
_PARTS: Final = re.compile(r"([^0-9]*)([0-9]*)")
_DRIVER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_EPOCH_LIMIT: Final = 2**31 - 1
_END: Final = 0
_RELATION: Final = re.compile(r"(>=|<=|>>|<<|==|=|>|<)\s*(.*)")
_PREFIX: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~]*\.\*")


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class DebVersion:
    """A Debian version; equal means equal in order (`1.0` and `1.0-0`), the text may differ.

    Args:
        text: as dpkg writes it; ValueError when dpkg would refuse it.
    """

    text: str

    def __post_init__(self) -> None:
        sort_key(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DebVersion) and sort_key(self.text) == sort_key(other.text)

    def __lt__(self, other: "DebVersion") -> bool:
        return sort_key(self.text) < sort_key(other.text)

    def __hash__(self) -> int:
        return hash(sort_key(self.text))

    def __str__(self) -> str:
        return self.text


def _split(text: str) -> tuple[int, str, str]:
    found = _VALID.fullmatch(text)
    if found is None:
        raise ValueError(
            f"'{text}' is no Debian version: expected [epoch:]upstream[-revision], beginning with a digit, "
            "of ASCII letters, digits and . + ~ -"
        )
    epoch = int(found[1] or 0)
    if epoch > _EPOCH_LIMIT:
        raise ValueError(f"'{text}' is no Debian version: the epoch is larger than {_EPOCH_LIMIT}")
    if found[1] is None and ":" in found[2]:
        raise ValueError(f"'{text}' is no Debian version: before a colon there is an epoch, and after it a version")
    if found[3] is None and "-" in found[2]:
        raise ValueError(f"'{text}' is no Debian version: nothing follows its last hyphen")
    return epoch, found[2], found[3] or ""


def _rank(character: str) -> int:
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _order(part: str) -> tuple[tuple[int, ...] | int, ...]:
    # An absent part counts as 0; the end of a text sorts after `~` and before everything else.
    key: list[tuple[int, ...] | int] = []
    for text, number in _PARTS.findall(part or "0"):
        if text or number:
            key += ((*map(_rank, text), _END), int(number or 0))
    return (*key, (_END,))


@lru_cache(maxsize=1 << 17)
def sort_key(text: str) -> SortKey:
    """Give the key that orders versions as dpkg does; raises ValueError for text that is no version."""
    epoch, upstream_part, revision = _split(text)
    return epoch, _order(upstream_part), _order(revision)


def check_version(text: str) -> None:
    """Refuse text that is no Debian version (ValueError), without computing its order: for 60,000 rows of an index."""
    _split(text)


def compare(a: str, b: str) -> int:
    """Compare two package versions in dpkg's order: -1, 0 or 1."""
    first, second = sort_key(a), sort_key(b)
    return (first > second) - (first < second)


def holds(version: str, relation: str, bound: str) -> bool:
    """Whether a version stands in a dependency's relation to a bound: `>=`, `>>`, `=`, `<<`, `<=`, or empty for any."""
    if not relation:
        return True
    sign = compare(version, bound)
    match relation:
        case ">=" | ">":  # `>` and `<` are dpkg's old spelling of `>=` and `<=`
            return sign >= 0
        case ">>":
            return sign > 0
        case "=":
            return sign == 0
        case "<<":
            return sign < 0
        case "<=" | "<":
            return sign <= 0
    raise ValueError(f"'{relation}' is no relation of a dependency: expected >=, >>, =, << or <=")


def upstream(text: str) -> str:
    """The upstream part, without epoch and Debian revision: `580.95.05-0ubuntu0.22.04.1` gives `580.95.05`."""
    return _split(text)[1]


def _driver_fields(text: str) -> tuple[int, ...]:
    part = upstream(text)
    if _DRIVER.fullmatch(part) is None:
        raise ValueError(f"'{text}' is no driver version: expected numbers with dots, such as 580.95.05")
    return tuple(int(field) for field in part.split("."))


def driver_branch(text: str) -> int:
    """The driver branch, read from the upstream version and never from a package's name: 580 of `580.95.05-1`."""
    return _driver_fields(text)[0]


def compare_driver(a: str, b: str) -> int:
    """Compare two driver versions by upstream part, number by number: -1, 0 or 1; a missing field sorts first."""
    first, second = _driver_fields(a), _driver_fields(b)
    return (first > second) - (first < second)


@dataclass(frozen=True, slots=True)
class _Term:
    relation: str
    """`any`, `prefix`, `=`, `>=`, `>`, `<=` or `<`."""
    bound: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a spec asks of a version: a prefix (`580.*`), one version, or comparisons that all must hold (`>=570,<590`).

    A bound without revision is compared with the upstream part only, a bound without epoch ignores epochs.
    """

    text: str
    terms: tuple[_Term, ...]

    @classmethod
    def parse(cls, text: str) -> "Constraint":
        """Read a constraint; empty or `*` allows every version. Raises ValueError that says what is expected."""
        stripped = text.strip()
        if stripped in {"", "*"}:
            return cls(text, ())
        return cls(text, tuple(_term(part.strip(), text) for part in stripped.split(",")))

    def allows(self, version: str) -> bool:
        """Whether a package version satisfies the constraint; raises ValueError for text that is no version."""
        return all(_satisfies(version, term) for term in self.terms)

    @property
    def exact(self) -> bool:
        """Whether the constraint names one version."""
        return any(term.relation == "=" for term in self.terms)

    @property
    def version(self) -> str:
        """The one version that the constraint consists of; empty when it is anything else."""
        return self.terms[0].bound if len(self.terms) == 1 and self.exact else ""

    def __str__(self) -> str:
        return self.text or "any version"


def _term(part: str, text: str) -> _Term:
    wrong = ValueError(
        f"'{text}' is no version constraint: expected a version (580.95.05), a prefix (580.*) "
        "or comparisons (>=570,<590)"
    )
    if part.endswith("*"):
        if _PREFIX.fullmatch(part) is None:
            raise wrong
        return _Term("prefix", part[:-2])
    found = _RELATION.fullmatch(part)
    relation, bound = (found[1], found[2]) if found else ("=", part)
    try:
        _split(bound)
    except ValueError:
        raise wrong from None
    return _Term({"==": "=", ">>": ">", "<<": "<"}.get(relation, relation), bound)


def _satisfies(version: str, term: _Term) -> bool:
    _, upstream_part, revision = _split(version)
    if term.relation == "prefix":
        return _begins(upstream_part, term.bound)
    epoch_counts, revision_counts = ":" in term.bound, "-" in term.bound
    without_epoch = f"{upstream_part}-{revision}" if revision else upstream_part
    if term.relation == "=" and revision_counts and not epoch_counts and upstream_part == term.bound:
        return True  # an upstream version that itself holds a hyphen
    if epoch_counts and not revision_counts:
        sides = version.removesuffix(f"-{revision}") if revision else version
    else:
        sides = version if epoch_counts else without_epoch if revision_counts else upstream_part
    sign = compare(sides, term.bound)
    return {"=": sign == 0, ">=": sign >= 0, ">": sign > 0, "<=": sign <= 0, "<": sign < 0}[term.relation]


def _begins(upstream_part: str, prefix: str) -> bool:
    """Whether dotted fields begin with the prefix's; the last may carry a repack mark (`24+dfsg1` begins with `24`)."""
    fields, wanted = upstream_part.split("."), prefix.split(".")
    if len(fields) < len(wanted):
        return False
    last = len(wanted) - 1
    return all(
        _same_field(fields[i] if i < last else re.split(r"[+~:-]", fields[i], maxsplit=1)[0], wanted[i])
        or fields[i] == wanted[i]
        for i in range(len(wanted))
    )


def _same_field(a: str, b: str) -> bool:
    return int(a) == int(b) if a.isdecimal() and b.isdecimal() else a == b
