"""Refusals: a decision that cannot be made, as one error with its place in the spec."""

from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def refuse(code: str, summary: str, *, address: str, detail: str = "", hint: str = "") -> GpuprovError:
    """Make the error of one diagnostic.

    Args:
        code: a code of the table.
        summary: one sentence: what is wrong, with what was found.
        address: the spec's path that it is about.
        detail: what was expected.
        hint: what to do.
    """
    return GpuprovError(Diagnostic(code=code, summary=summary, address=address, detail=detail, hint=hint))
