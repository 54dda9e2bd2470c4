"""What a rule answers when the catalog does not know."""

from gpuprov.model.diagnostic import Diagnostic, Severity


def unknown(address: str, what: str, severity: Severity = Severity.ERROR, hint: str = "") -> Diagnostic:
    """GP-RULE-900: nothing is known, so nothing is allowed (error), or it does not decide anything (note)."""
    return Diagnostic(
        code="GP-RULE-900",
        summary=f"the catalog does not know {what}",
        address=address,
        detail="What is not known is not taken for compatible.",
        hint=hint or "use what the catalog knows, or a newer gpuprov",
        severity=severity,
    )
