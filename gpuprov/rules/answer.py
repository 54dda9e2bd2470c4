"""What a rule answers: whether things go together, from which facts it follows, and what would satisfy the rule."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, Severity

UNKNOWN_CODE: Final = "GP-RULE-900"


class Verdict(StrEnum):
    """How an answer weighs."""

    REFUSED = "refused"
    """It cannot work."""
    WARNING = "warning"
    """It works, with limits."""
    UNKNOWN = "unknown"
    """The catalog does not know, so nothing is allowed."""
    NOTE = "note"
    """The catalog does not know, and nothing hangs on it."""


_SEVERITIES: Final = {
    Verdict.REFUSED: Severity.ERROR,
    Verdict.WARNING: Severity.WARNING,
    Verdict.UNKNOWN: Severity.ERROR,
    Verdict.NOTE: Severity.NOTE,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One fact of an answer, and who says it: a source of the catalog, or a field of the spec."""

    what: str
    source: str = ""
    """Title and date of the catalog's sources."""
    at: str = ""
    """Address in the spec."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What one rule says of one thing; a rule that is satisfied gives no answer."""

    rule: str
    """Code of the rule that was asked."""
    verdict: Verdict
    address: str
    """The field of the spec that it is about."""
    summary: str
    facts: tuple[Said, ...] = ()
    consequence: str = ""
    """What would happen on the host."""
    satisfies: str = ""
    """What would satisfy the rule."""

    @property
    def code(self) -> str:
        """The code that it is told under."""
        return UNKNOWN_CODE if self.verdict in {Verdict.UNKNOWN, Verdict.NOTE} else self.rule


def told(answer: Answer, place: Callable[[str], str] = str) -> Diagnostic:
    """An answer as a diagnostic.

    Args:
        answer: the answer.
        place: shows an address of the spec with its place in the file.
    """
    detail = answer.consequence
    if answer.verdict is Verdict.UNKNOWN:
        detail = f"{detail}\n{answer.rule} cannot be decided without it."
    return Diagnostic(
        code=answer.code,
        summary=answer.summary,
        address=answer.address,
        detail=detail,
        hint=answer.satisfies,
        severity=_SEVERITIES[answer.verdict],
        source=" | ".join(f"{said.what}: {said.source or place(said.at)}" for said in answer.facts),
    )


def unknown(
    rule: str, address: str, what: str, *, table: str, verdict: Verdict = Verdict.UNKNOWN, hint: str = ""
) -> Answer:
    """The catalog does not know something that a rule needs.

    Args:
        rule: code of the rule.
        address: the field of the spec that it is about.
        what: what is not known, after "the catalog does not know".
        table: of the catalog, where a row of the user's own would help.
        verdict: UNKNOWN, or NOTE where nothing hangs on it.
        hint: a way on beside the two that there always are.
    """
    ways = [hint] if hint else []
    ways += [
        f"write what you know into {table}.yaml of the folder that `catalog:` names",
        f"or accept it: `accept: [{{rule: {rule}, reason: ..., until: ...}}]`",
    ]
    return Answer(
        rule=rule,
        verdict=verdict,
        address=address,
        summary=f"the catalog does not know {what}",
        consequence="What is not known is not taken for compatible." if verdict is Verdict.UNKNOWN else "",
        satisfies="; ".join(ways) if verdict is Verdict.UNKNOWN else "",
    )
