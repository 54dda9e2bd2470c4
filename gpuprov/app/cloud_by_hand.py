"""What somebody changed in the account past gpuprov, for a run that looks at everything (`--refresh`)."""

from gpuprov.app.cloud_site import CloudSite, as_one_step
from gpuprov.cloud.state import StackState
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.progress import Report


def found_by_hand(place: CloudSite, state: StackState, report: Report) -> tuple[Diagnostic, ...]:
    """A warning for each thing: what the engine reads otherwise than it left it, and what it does not see.

    Args:
        place: the site with its account and stack.
        state: of the stack.
        report: where progress goes.
    """
    return (*place.stack.by_hand(as_one_step(report)), *place.account.opened_by_hand(state))
