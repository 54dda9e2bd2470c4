"""A stack of the cloud: preview, apply, remove and recovery, with the engine's faults translated."""

import functools
import hashlib
import json
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from pulumi.automation import Deployment

from gpuprov.cloud import recovery, state
from gpuprov.cloud.by_hand import ByHand, told_by_hand
from gpuprov.cloud.copies import back_up, prune_history, remove_files
from gpuprov.cloud.decide.natural_keys import NATURAL_KEYS
from gpuprov.cloud.engine import Engine
from gpuprov.cloud.events import EventReader
from gpuprov.cloud.judgement import judge, names_of, refusal
from gpuprov.cloud.mark import clear_mark, is_marked, read_mark
from gpuprov.cloud.orphans import Tagged, orphans, take_in
from gpuprov.cloud.plugins import ensure_plugin
from gpuprov.cloud.readiness import interrupted, stand_ready
from gpuprov.cloud.recovery import Find, Settled, TakenOver
from gpuprov.cloud.runner import Runner
from gpuprov.cloud.state import HOLDING, StackState
from gpuprov.cloud.state_names import is_kept, state_name
from gpuprov.cloud.types import Applied, Document, StackPlace
from gpuprov.cloud.workspace import load_program
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.model.progress import Progress, Report
from gpuprov.model.resource import ResourceAction, ResourceChange, ResourcePlan
from gpuprov.model.stack_record import Orphan

__all__ = ["CloudStack", "judge"]

PATIENCE: Final = 900.0
"""Seconds to wait for an engine that an ended run left at work: a create may take minutes."""
GRACE: Final = 30.0
"""Seconds; EC2's answers are eventually consistent (EC2 API Reference, read 2026-11-30), mostly within a few."""
_POLL: Final = 1.0


class CloudStack:
    """One stack: its state on disk, and the engine that changes it. Not for several threads at once.

    Args:
        place: which stack, where its files are, and the variables of the account.
        engine: from `find_engine`.
        patience: seconds to wait for an engine of an earlier run that is still at work.
        grace: seconds after the last checkpoint in which a resource that was being made may still appear.
    """

    def __init__(self, place: StackPlace, engine: Engine, *, patience: float = PATIENCE, grace: float = GRACE) -> None:
        self._place = place
        self._engine = engine
        self._patience = patience
        self._grace = grace
        self._runner = Runner(place, engine)
        self._seen: tuple[str, tuple[ResourceChange, ...]] | None = None
        """What the last preview found, and of which state and document."""
        self._ahead: tuple[str, EventReader] | None = None
        """A preview that recovery made, for the one that follows it."""

    def state(self) -> StackState:
        """Read what the files tell; neither the engine nor AWS is asked.

        Raises:
            GpuprovError: GP-CLOUD-013 when the state is broken.
        """
        return state.read_state(self._place, unfinished=is_marked(self._place))

    def preview(
        self, document: Document, *, replace: Collection[str] = (), report: Report, refresh: bool = False
    ) -> ResourcePlan:
        """Ask the engine what it would do; nothing is changed in the account.

        Args:
            document: what the stack must be.
            replace: names of hosts, and of volumes as `STORAGE/HOST`, that are made anew in any case.
            report: where progress goes.
            refresh: whether every resource is read from AWS first, so that what was deleted by hand is seen.

        Raises:
            GpuprovError: with the engine's or AWS's fault translated.
        """
        fingerprint = self._fingerprint(document, replace)
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == fingerprint and not refresh:
            reader = ahead[1]
        else:
            reader = self._preview(document, replace, report, refresh=refresh)
        plan = reader.plan()
        self._seen = (self._fingerprint(document, replace), plan.changes)
        return plan

    def apply(
        self,
        document: Document,
        *,
        replace: Collection[str] = (),
        report: Report,
        cancel: threading.Event | None = None,
        refresh: bool = False,
        keep_going: bool = False,
    ) -> Applied:
        """Make the stack what the document says.

        What this stack's `preview` found counts: if the state or the document is another one since, and the engine
        would now do something else, nothing is done.

        Args:
            document: what the stack must be.
            replace: as in `preview`.
            report: where progress goes.
            cancel: set to stop after what is in flight; that is finished and recorded.
            refresh: as in `preview`.
            keep_going: whether everything is made that does not depend on what failed.

        Returns:
            What the stack holds now and what was changed, also when a resource failed or the run was interrupted: the
            diagnostics say so then.

        Raises:
            GpuprovError: nothing was begun: GP-CLOUD-011, 012, 013, 015, 002, GP-PLAN-001.
        """
        self._stand_ready(report, cancel)
        self._refuse_pending()
        self._refuse_moved(document, replace, report, refresh=refresh)
        total = len(self._seen[1]) if self._seen else None
        self._seen = None
        reader = EventReader(planning=False, total=total)
        failure = self._runner.run(
            lambda stack, on_event: stack.up(
                on_event=on_event,
                replace=self._urns(replace) or None,
                suppress_outputs=True,
                show_secrets=False,
                refresh=refresh or None,
                continue_on_error=keep_going or None,
                message="gpuprov up",
            ),
            reader,
            report,
            program=load_program(document),
            cancel=cancel,
            changes=True,
        )
        if failure and not reader.begun and not reader.cancelled:
            raise GpuprovError(*failure)
        prune_history(self._place)
        return Applied(made=self.state().made, changed=reader.changes, unchanged=reader.unchanged, diagnostics=failure)

    def remove(self, *, report: Report, cancel: threading.Event | None = None) -> None:
        """Delete what the stack still holds, but for buckets and volumes, and then the stack itself.

        Raises:
            GpuprovError: GP-CLOUD-014 when it holds a bucket or a volume; else the engine's fault, translated.
        """
        self._stand_ready(report, cancel)
        if not is_kept(self._place):
            return
        held = self.state()
        kept = [row for row in held.resources.values() if row.type in HOLDING - {state.INSTANCE}]
        if kept:
            raise GpuprovError(
                *(
                    refusal(
                        ResourceChange(address=row.address, type=row.type, action=ResourceAction.DELETE, urn=row.urn)
                    )
                    for row in kept
                )
            )
        self._refuse_pending()
        if held.exists:
            reader = EventReader(planning=False, total=len(held.resources))
            failure = self._runner.run(
                lambda stack, on_event: stack.destroy(
                    on_event=on_event, show_secrets=False, suppress_outputs=True, message="gpuprov destroy"
                ),
                reader,
                report,
                cancel=cancel,
                changes=True,
            )
            if failure:
                raise GpuprovError(*failure)
        with self._runner.translated():
            self._runner.stack().workspace.remove_stack(self._place.name, preserve_config=False)
        remove_files(self._place)
        clear_mark(self._place)

    def recover(
        self,
        find: Find,
        report: Report,
        *,
        document: Document | None = None,
        replace: Collection[str] = (),
        cancel: threading.Event | None = None,
        thorough: bool = False,
        taken_over: TakenOver | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Settle what an interrupted run left: wait for its engine, take in what it made, drop what it did not.

        Args:
            find: looks in the account by the tag gpuprov:id, or by a natural key.
            report: where progress goes.
            document: when given, and the last update did not end well or the state is empty, every resource that the
                engine would create is looked for in the account first; without it, those whose create failed are: a
                plugin that dies in the middle of one leaves no trace in the state.
            replace: as in `preview`.
            cancel: ends the waiting.
            thorough: whether the account is looked through although the last update ended well.
            taken_over: finishes what was cut off with the making of what is taken in; not needed where it goes anyway.

        Returns:
            A note for each thing that was settled.

        Raises:
            GpuprovError: GP-CLOUD-015 when something cannot be settled, GP-CLOUD-011 when an engine goes on for too
                long or another machine holds the state; nothing was changed then.
        """
        told = self._stand_ready(report, cancel)
        held = self.state()
        if held.pending:
            text = f"{len(held.pending)} operation(s) of an earlier run are not settled"
            report(Progress(phase="recovery", subject=self._place.name, text=text))
            patient = self._patient(find, report, cancel)
            told += self._settle(lambda deployment: recovery.settle(deployment, patient), report, taken_over)
        failed = read_mark(self._place)
        if failed and held.exists:
            work = functools.partial(recovery.adopt, created=failed, find=find, leaving=document is None)
            told += self._settle(work, report, taken_over)
        if document is not None and (thorough or held.unfinished or held.pending or not held.exists):
            told += self._look_ahead(document, replace, find, report, taken_over)
        return told

    def by_hand(self, report: Report) -> tuple[Diagnostic, ...]:
        """What of the stack was changed or deleted in the account since the engine left it; nothing is written.

        Raises:
            GpuprovError: with the engine's or AWS's fault translated.
        """
        found = ByHand()
        ensure_plugin(self._engine, self._place, report)
        failure = self._runner.run(
            lambda stack, on_event: stack.preview_refresh(on_event=found.beside(on_event)),
            EventReader(planning=True),
            report,
        )
        if failure:
            raise GpuprovError(*failure)
        return told_by_hand(found.changes)

    def orphans(self, there: Collection[Tagged]) -> tuple[Orphan, ...]:
        """Which resources of the account are of this stack by their tags, and not in its state.

        Raises:
            GpuprovError: GP-CLOUD-013 when the state is broken.
        """
        known = (state.read_deployment(self._place) or {}).get("resources") or []
        return orphans(there, known, self._place.name)

    def take_in(self, found: Collection[Orphan], report: Report) -> bool:
        """Take orphans into the state, so that the next update decides about them; false when it cannot be done."""
        taken: list[Mapping[str, Any]] = []

        def work(deployment: Mapping[str, Any]) -> Settled:
            new = take_in(deployment, found)
            taken.extend([new] if new is not None else [])
            return Settled(deployment=new or deployment, told=(), changed=bool(taken), reading=bool(taken))

        self._settle(work, report)
        return bool(taken)

    def _look_ahead(
        self,
        document: Document,
        replace: Collection[str],
        find: Find,
        report: Report,
        taken_over: TakenOver | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Look in the account for everything that the engine would now create, until nothing more is found."""
        told: tuple[Diagnostic, ...] = ()
        taken: set[str] = set()
        while True:
            fingerprint = self._fingerprint(document, replace)
            reader = self._preview(document, replace, report, refresh=False)
            # What has a name of its own cannot be made twice.
            created = [new for new in reader.created if new.type not in NATURAL_KEYS]
            if not created:
                break
            found = self._settle(functools.partial(recovery.adopt, created=created, find=find), report, taken_over)
            again = {one.address for one in found} - taken
            if not again:  # what was taken in and is to be made once more is not what the engine's plugin reads
                break
            told += found
            taken |= again
        self._ahead = (fingerprint, reader)
        return told

    def _patient(self, find: Find, report: Report, cancel: threading.Event | None) -> Find:
        """Look again for a while: a plugin may still be at its call, and EC2 shows what it made a little late."""
        until = (self._place.files.changed(state_name(self._place)) or 0.0) + self._grace
        stop = cancel or threading.Event()

        def patient(type_token: str, key: str) -> str | None:
            while (found := find(type_token, key)) is None and (left := until - time.time()) > 0:
                text = f"not in the account; looking for {left:.0f} s more"
                report(Progress(phase="recovery", subject=key, text=text))
                if stop.wait(_POLL):
                    raise GpuprovError(interrupted())
            return found

        return patient

    def _preview(self, document: Document, replace: Collection[str], report: Report, *, refresh: bool) -> EventReader:
        state.read_deployment(self._place)
        ensure_plugin(self._engine, self._place, report)
        reader = EventReader(planning=True)
        failure = self._runner.run(
            lambda stack, on_event: stack.preview(
                on_event=on_event, replace=self._urns(replace) or None, refresh=refresh or None
            ),
            reader,
            report,
            program=load_program(document),
        )
        if failure:
            raise GpuprovError(*failure)
        return reader

    def _settle(
        self,
        work: Callable[[Mapping[str, Any]], Settled],
        report: Report,
        taken_over: TakenOver | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Change the deployment and refresh, after a backup; nothing is changed when anything cannot be settled."""
        stack = self._runner.stack()
        with self._runner.translated():
            exported = stack.export_stack()
        settled = work(exported.deployment or {})
        errors = tuple(one for one in settled.told if one.severity is Severity.ERROR)
        if errors:
            raise GpuprovError(*errors)
        if settled.changed:
            back_up(self._place)
            with self._runner.translated():
                stack.import_stack(Deployment(version=exported.version, deployment=dict(settled.deployment)))
        if settled.reading:
            failure = self._runner.run(
                lambda engine, on_event: engine.refresh(
                    on_event=on_event, show_secrets=False, suppress_outputs=True, message="gpuprov recovery"
                ),
                EventReader(planning=False),
                report,
            )
            if failure:
                raise GpuprovError(*failure)
        if taken_over is not None:
            for token, identity in settled.taken:
                taken_over(token, identity)
        return settled.told

    def _stand_ready(self, report: Report, cancel: threading.Event | None) -> tuple[Diagnostic, ...]:
        return stand_ready(self._place, self._runner.hold, patience=self._patience, report=report, cancel=cancel)

    def _refuse_pending(self) -> None:
        """A pending create that is not settled would be made twice."""
        pending = self.state().pending
        if pending:
            raise GpuprovError(
                *(
                    Diagnostic(
                        code="GP-CLOUD-015",
                        address=one.address,
                        summary=f"an earlier run was cut off while {one.operation} it, and that is not settled",
                        hint="run `gpuprov up`: it looks in the account and settles it",
                    )
                    for one in pending
                )
            )

    def _refuse_moved(self, document: Document, replace: Collection[str], report: Report, *, refresh: bool) -> None:
        """What was shown counts: another state or document since the preview is looked at once more."""
        if self._seen is None or self._seen[0] == self._fingerprint(document, replace):
            ensure_plugin(self._engine, self._place, report)
            return
        before = self._seen[1]
        now = self._preview(document, replace, report, refresh=refresh).changes
        if now != before:
            moved = sorted({change.address for change in {*before} ^ {*now}})
            raise GpuprovError(
                Diagnostic(
                    code="GP-PLAN-001",
                    address=self._place.name,
                    summary="the stack moved since the plan was made; nothing was changed",
                    detail=f"what would now be done differs for: {', '.join(moved)}",
                    hint="run the same command again and look at the new plan",
                )
            )

    def _fingerprint(self, document: Document, replace: Collection[str]) -> str:
        text = self._place.files.read(state_name(self._place)) or b""
        asked = json.dumps([document, sorted(replace)], sort_keys=True, default=str).encode()
        return hashlib.sha256(text).hexdigest() + hashlib.sha256(asked).hexdigest()

    def _urns(self, replace: Collection[str]) -> list[str]:
        """The URNs of what the state holds under the names that a person gave."""
        if not replace:
            return []
        held = self.state().resources.values()
        return [row.urn for row in held if row.type in HOLDING and names_of(row.address) & set(replace)]
