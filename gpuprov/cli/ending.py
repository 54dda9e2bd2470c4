"""How a command ends: results, refusals, interruptions and faults, each with its exit status."""

import os
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path

import click

from gpuprov.cli.settings import settings_kept
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, status_of
from gpuprov.model.status import ExitStatus


def end_with(group: click.Group, argv: list[str]) -> int:
    """Run a command and turn whatever ends it into an exit status; the settings are then as they were."""
    with settings_kept():
        return _end_with(group, argv)


def _end_with(group: click.Group, argv: list[str]) -> int:  # noqa: PLR0911 - one return for each way to end
    before = threading.enumerate()
    try:
        outcome = group.main(args=argv, prog_name="gpuprov", standalone_mode=False)
    except GpuprovError as error:
        return _tell(error.diagnostics, argv)
    except (KeyboardInterrupt, click.Abort):
        interrupted = Diagnostic(
            code="GP-RUN-003",
            summary="interrupted",
            hint="run the same command again, or `gpuprov up --resume` for an `up`: both look at everything anew and go"
            " on from what they find; `gpuprov runs show` tells what was done",
        )
        status = _tell((interrupted,), argv)
        leave_nobody_waiting(status, before)
        return status
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return int(ExitStatus.DONE)
    except click.UsageError as error:
        hint = f"`{error.ctx.command_path} --help` shows what it takes" if error.ctx else "`gpuprov --help`"
        return _tell((Diagnostic(code="GP-RUN-004", summary=error.format_message(), hint=hint),), argv)
    except BrokenPipeError:
        # The reader of our output went away (`gpuprov ... | head`); there is nobody left to tell.
        sys.stderr.close()
        return int(ExitStatus.DONE)
    except Exception as error:  # noqa: BLE001 - the last resort: a report instead of a bare traceback
        return _tell((_internal(error, argv),), argv)
    return int(outcome) if isinstance(outcome, int) else int(ExitStatus.DONE)


def leave_nobody_waiting(status: int, before: Collection[threading.Thread]) -> None:
    """End the process at once where a thread that was begun since would keep it.

    After the second Ctrl-C the engine goes on in a session of its own, and Pulumi's SDK has a thread that waits for it
    (3.272, 2026-11-30: `automation/_server.py`); Python waits for each such thread, for as long as AWS takes.

    Args:
        status: of the process.
        before: the threads that were there when the command began.
    """
    if any(not thread.daemon for thread in threading.enumerate() if thread not in before):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _tell(diagnostics: tuple[Diagnostic, ...], argv: list[str]) -> int:
    from gpuprov.render.diagnostics import show_diagnostics  # noqa: PLC0415 - `--version` needs no console
    from gpuprov.render.json_text import diagnostics_body, show_json  # noqa: PLC0415
    from gpuprov.render.terminal import open_terminal  # noqa: PLC0415

    terminal = open_terminal(colour=False if "--no-colour" in argv else None)
    show_diagnostics(diagnostics, terminal)
    if "--json" in argv:
        show_json({"diagnostics": diagnostics_body(diagnostics)}, terminal)
    return int(status_of(diagnostics))


def _internal(error: Exception, argv: list[str]) -> Diagnostic:
    import traceback  # noqa: PLC0415 - only needed for a fault

    report = Path(f"gpuprov-fault-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.txt")
    text = "".join(traceback.format_exception(error))
    command = next((word for word in argv if not word.startswith("-")), "")
    try:
        report.write_text(f"command: gpuprov {command}\npython: {sys.version}\n\n{text}", encoding="utf-8")
        where = f"the report is in {report}"
    except OSError as problem:
        where = f"the report could not be written ({problem.strerror}); it follows\n{text}"
    return Diagnostic(
        code="GP-INT-001",
        summary=f"a fault of gpuprov itself: {type(error).__name__}: {error}",
        detail=where,
        hint="please send the report; it holds no configuration and no secrets, but read it first",
    )
