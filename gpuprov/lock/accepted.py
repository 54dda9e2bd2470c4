"""What a spec takes upon itself: warnings and unknowns of rules, with a reason, until a date."""

from collections.abc import Sequence
from dataclasses import replace

from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.rules.answer import UNKNOWN_CODE, Answer, Verdict
from gpuprov.spec.types import Acceptance


def accepted_by(answer: Answer, accept: Sequence[Acceptance], today: str) -> Acceptance | None:
    """The acceptance that covers an answer and has not expired; a refusal is covered by none."""
    return next((a for a in accept if _covers(a, answer) and today <= a.until), None)


def as_accepted(diagnostic: Diagnostic, by: Acceptance) -> Diagnostic:
    """The diagnostic of an answer that is accepted: it is still told, and does not count."""
    told = f"Accepted until {by.until}: {by.reason}"
    detail = f"{diagnostic.detail}\n{told}" if diagnostic.detail else told
    return replace(diagnostic, severity=Severity.NOTE, detail=detail, hint="")


def idle(accept: Sequence[Acceptance], answers: Sequence[Answer], today: str) -> tuple[Diagnostic, ...]:
    """GP-RULE-901 for each acceptance that has expired, or that no answer needs."""
    found = []
    for index, acceptance in enumerate(accept):
        needed = any(_covers(acceptance, answer) for answer in answers)
        if needed and today <= acceptance.until:
            continue
        refused = any(_is_about(acceptance, a) and a.verdict is Verdict.REFUSED for a in answers)
        why = f"expired on {acceptance.until}" if needed else "is needed by nothing"
        found.append(
            Diagnostic(
                code="GP-RULE-901",
                summary=f"the acceptance of {acceptance.rule} {why}",
                address=f"accept[{index}]",
                detail="What a rule refuses cannot be accepted." if refused else f"Its reason: {acceptance.reason}",
                hint="look at it again: give it a later date, or take it away" if needed else "take it away",
                severity=Severity.WARNING,
            )
        )
    return tuple(found)


def _covers(acceptance: Acceptance, answer: Answer) -> bool:
    return answer.verdict in {Verdict.WARNING, Verdict.UNKNOWN} and _is_about(acceptance, answer)


def _is_about(acceptance: Acceptance, answer: Answer) -> bool:
    rules = {answer.rule, UNKNOWN_CODE} if answer.verdict is Verdict.UNKNOWN else {answer.rule}
    at = acceptance.at
    return acceptance.rule in rules and (
        not at or answer.address == at or answer.address.startswith((f"{at}.", f"{at}["))
    )
