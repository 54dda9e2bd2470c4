"""Taking resources of the account into a stack: the engine reads them, and from then on they are the stack's."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuprov.cloud import state
from gpuprov.cloud.decide.foreign import with_foreign_tags
from gpuprov.cloud.engine import Engine
from gpuprov.cloud.events import EventReader
from gpuprov.cloud.plugins import ensure_plugin
from gpuprov.cloud.readiness import interrupted, stand_ready
from gpuprov.cloud.runner import Runner, hold_file
from gpuprov.cloud.state_names import PROJECT
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.cloud.workspace import load_program
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourceChange


@dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """One resource to take in."""

    address: str
    """In the stack: `bucket.datasets`."""
    type: str
    """Pulumi's type token."""
    id: str
    """In the account."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """That it has now."""


class Importing:
    """Takes resources into one stack; nothing else of the stack is touched.

    Args:
        place: which stack.
        engine: from `find_engine`.
    """

    def __init__(self, place: StackPlace, engine: Engine) -> None:
        self._place = place
        self._engine = engine
        self._runner = Runner(place, engine)

    def preview(self, document: Document, imports: tuple[Import, ...], report: Report) -> tuple[ResourceChange, ...]:
        """What would be taken in, and what of it would be changed to fit the document; nothing is written.

        Raises:
            GpuprovError: GP-CLOUD-075 when a resource cannot be what the document says without being made anew; else
                the engine's or AWS's fault, translated.
        """
        self._stand_ready(report)
        return self._run(document, imports, report, planning=True, cancel=None)

    def apply(
        self, document: Document, imports: tuple[Import, ...], report: Report, cancel: threading.Event
    ) -> tuple[ResourceChange, ...]:
        """Take them in, and change of them what the document says.

        Raises:
            GpuprovError: as `preview`; GP-RUN-003 when it was cancelled.
        """
        self._stand_ready(report)
        return self._run(document, imports, report, planning=False, cancel=cancel)

    def _run(
        self,
        document: Document,
        imports: tuple[Import, ...],
        report: Report,
        *,
        planning: bool,
        cancel: threading.Event | None,
    ) -> tuple[ResourceChange, ...]:
        ensure_plugin(self._engine, self._place, report)
        reader = EventReader(planning=planning)
        targets = [urn_of(one, self._place.name) for one in imports]
        has = {one.address: one.tags for one in imports}
        document = with_foreign_tags(document, lambda address: has.get(address, {}))
        whole = {**document, "imports": {one.address: one.id for one in imports}}
        failure = self._runner.run(
            (lambda stack, on_event: stack.preview(on_event=on_event, target=targets))
            if planning
            else lambda stack, on_event: stack.up(
                on_event=on_event,
                target=targets,
                suppress_outputs=True,
                show_secrets=False,
                message="gpuprov import",
            ),
            reader,
            report,
            program=load_program(whole),
            cancel=cancel,
            changes=not planning,
        )
        if failure:
            raise GpuprovError(*failure)
        if reader.cancelled:
            raise GpuprovError(interrupted())
        named = {one.address for one in imports}
        return tuple(change for change in reader.changes if change.address in named)

    def _stand_ready(self, report: Report) -> None:
        stand_ready(self._place, hold_file(self._place), patience=0.0, report=report, cancel=None)
        pending = state.read_state(self._place).pending
        if pending:
            raise GpuprovError(
                Diagnostic(
                    code="GP-CLOUD-015",
                    address=pending[0].address,
                    summary=f"an earlier run was cut off while {pending[0].operation} it, and that is not settled",
                    hint="`gpuprov recover` settles it",
                )
            )


def urn_of(one: Import, stack: str) -> str:
    """The URN of a resource of `stacks/aws`, whose resources have no parent but the stack."""
    return f"urn:pulumi:{stack}::{PROJECT}::{one.type}::{one.address}"
