"""What an address or a code means, as values: the same texts as on the reference pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpuprov.catalog.load import PACKAGED, speaking
from gpuprov.model.address import pattern_of
from gpuprov.model.codes import CODES
from gpuprov.model.facet import Facet
from gpuprov.model.facets import BY_PATTERN, FACETS
from gpuprov.model.status import ExitStatus
from gpuprov.reference.pages import GROUPS
from gpuprov.reference.words import default_words, value_words
from gpuprov.rules.texts import RULES, RuleText
from gpuprov.spec.effects import Effect, effect_of, fields_of_facet
from gpuprov.spec.fields import find_field, spec_fields
from gpuprov.spec.suggest import did_you_mean

_BARE: Final = re.compile(r"\[([^\]\"]+)\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldText:
    """A field of the spec."""

    pattern: str
    text: str
    value: str
    """What may be written, in words."""
    default: str
    example: str
    """As it stands in the spec, key and value; empty for none."""
    keys: tuple[tuple[str, str], ...]
    """The fields right below it, with their texts."""
    effect: Effect | None
    """None for a heading, and for what this release does not build."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetText:
    """A facet, or a fact that is observed only."""

    facet: Facet
    fields: tuple[str, ...]
    """The fields of the spec that it is wanted by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeText:
    """A diagnostic code."""

    code: str
    status: ExitStatus
    title: str
    group: str
    rule: RuleText | None = None
    """What the rule of that code asks; None for the code of an error that is no rule's."""
    basis: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What the rule reads in the catalog, as `toolkits.min_driver`, each with the sources that back it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """What a name means; an address may be both a field and a facet."""

    subject: str
    field: FieldText | None = None
    facet: FacetText | None = None
    facets: tuple[Facet, ...] = ()
    """The facets below an address that is none itself: all of `host`, all of `package`."""
    codes: tuple[CodeText, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the name means anything."""
        return bool(self.field or self.facet or self.facets or self.codes)


def explain(subject: str) -> Explanation:
    """Say what an address of the spec, a facet, a code or a group of codes means.

    Args:
        subject: also without the quotes that a shell takes away: `package[htop].version`.
    """
    address = quote_members(subject)
    facet = BY_PATTERN.get(pattern_of(address)) or BY_PATTERN.get(address)
    return Explanation(
        subject=address,
        field=_field(address),
        facet=FacetText(facet=facet, fields=tuple(fields_of_facet(facet.pattern))) if facet else None,
        facets=tuple(_below(pattern_of(address))),
        codes=tuple(_codes(subject.upper())),
    )


def overview() -> Explanation:
    """What there is to ask for: the top of a spec, every facet, every code."""
    top = tuple((field.address, field.about.text) for field in spec_fields() if "." not in field.address)
    heading = FieldText(pattern="", text="", value="", default="", example="", keys=top, effect=None)
    return Explanation(subject="", field=heading, facets=FACETS, codes=tuple(_codes("GP")))


def near(subject: str) -> str:
    """`did you mean ...?` for a name that means nothing; empty when nothing is near."""
    return did_you_mean(pattern_of(quote_members(subject)), names()) or did_you_mean(subject, list(CODES))


def names() -> tuple[str, ...]:
    """Every address that is explained: fields of the spec, then facets."""
    return tuple(dict.fromkeys((*(field.address for field in spec_fields()), *BY_PATTERN)))


def quote_members(subject: str) -> str:
    """An address with the quotes that a shell took: `package[htop].held` becomes `package["htop"].held`."""
    kept = re.compile(r"[0-9]+|\*")
    return _BARE.sub(lambda found: found[0] if kept.fullmatch(found[1]) else f'["{found[1]}"]', subject)


def _field(address: str) -> FieldText | None:
    field = find_field(address)
    if field is None:
        return None
    below = re.compile(re.escape(field.address) + r"(\.\*|\[\*\])?\.[^.\[]+")
    return FieldText(
        pattern=field.address,
        text=f"{field.about.text} {field.about.not_yet}".strip(),
        value=value_words(field),
        default=default_words(field),
        example=f"{field.name}: {field.about.example}" if field.about.example else "",
        keys=tuple((f.address, f.about.text) for f in spec_fields() if below.fullmatch(f.address)),
        effect=None if field.about.not_yet else effect_of(field.address),
    )


def _below(address: str) -> Iterator[Facet]:
    if address not in BY_PATTERN:
        family = address.removesuffix("[*]")
        yield from (facet for facet in FACETS if facet.pattern.startswith((f"{family}.", f"{family}[")))


def _codes(subject: str) -> Iterator[CodeText]:
    for code, row in CODES.items():
        if code == subject or code.startswith(f"{subject}-"):
            group = code.rpartition("-")[0]
            # The catalog is read for one rule alone, not for the list of all.
            rule = RULES.get(code) if code == subject else None
            yield CodeText(
                code=code,
                status=row.status,
                title=row.title,
                group=GROUPS[group],
                rule=rule,
                basis=tuple((f"{table}.{field}", _backing(table, field)) for table, field in rule.basis)
                if rule
                else (),
            )


def _backing(table: str, field: str) -> tuple[str, ...]:
    """Title and date of the sources that speak of a field, over all rows of its table."""
    found = PACKAGED.table(table)
    backed = (row for row in found.rows if row.knows(field) and getattr(row, field) not in (None, ()))
    keys = {key for row in backed for key in speaking(row, field, found) or row.sources}
    return tuple(f"{found.sources[key].title}, {found.sources[key].as_of}" for key in sorted(keys))
