"""`--format KIND[:FILE]`: which reports a command writes, and what they say when it cannot go on."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from gpuprov.app.places import from_repository
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span
from gpuprov.parity.types import Parity
from gpuprov.render.reports.types import ParityReport, ReportFormat, ReportKind
from gpuprov.render.reports.write import write_reports
from gpuprov.render.terminal import Terminal

Command = TypeVar("Command", bound=Callable[..., Any])

_STDOUT: Final = "-"


def format_option(command: Command) -> Command:
    """`--format`, repeatable; the command gets what was asked for as `formats`."""
    return click.option(
        "--format",
        "formats",
        multiple=True,
        metavar="KIND[:FILE]",
        callback=lambda _ctx, _param, texts: tuple(read_format(text) for text in texts),
        help=f"Write a report: {', '.join(ReportKind)}; into a file, or on stdout in place of the table. Repeatable.",
    )(command)


def read_format(text: str) -> ReportFormat:
    """Read `junit:report.xml`, `markdown` or `markdown:-`.

    Raises:
        click.BadParameter: no such form, or a file that could not be written: better told before the first host is
            asked than after the last one.
    """
    word, colon, file = text.partition(":")
    known = {kind.value: kind for kind in ReportKind}
    if word not in known:
        near = difflib.get_close_matches(word, known, n=1)
        meant = f"; did you mean `{near[0]}`?" if near else ""
        raise click.BadParameter(f"there is no format `{word}`: one of {', '.join(known)} was expected{meant}")
    if colon and not file:
        raise click.BadParameter(f"`{text}` names no file: `{word}:FILE`, or `{word}` for stdout")
    if not file or file == _STDOUT:
        return ReportFormat(kind=known[word], file=None)
    if Path(file).is_dir():
        raise click.BadParameter(f"`{file}` is a folder; name a file in it")
    if not Path(file).parent.is_dir():
        raise click.BadParameter(f"the folder `{Path(file).parent}` is not there; make it first")
    return ReportFormat(kind=known[word], file=file)


def choose_formats(formats: Sequence[ReportFormat], *, as_json: bool) -> tuple[ReportFormat, ...]:
    """The reports to write: those that were asked for, and on stdout the table where nothing else goes there.

    Raises:
        click.UsageError: two would go to one place.
    """
    chosen = (*formats, *((ReportFormat(kind=ReportKind.JSON, file=None),) if as_json else ()))
    places = [wanted.file and str(Path(wanted.file).resolve()) for wanted in chosen]
    for place in dict.fromkeys(places):
        kinds = [wanted.kind.value for wanted, other in zip(chosen, places, strict=True) if other == place]
        if len(kinds) > 1:
            raise click.UsageError(f"{' and '.join(kinds)} would both go to {place or 'stdout'}; name a file for each")
    return chosen if None in places else (*chosen, ReportFormat(kind=ReportKind.TABLE, file=None))


@contextmanager
def reporting_errors(formats: Iterable[ReportFormat], terminal: Terminal, *, as_json: bool) -> Iterator[None]:
    """Write what ends the command into its reports too: a CI job without a report says nothing of why.

    Args:
        formats: as chosen.
        terminal: for the report on stdout.
        as_json: stdout is left to the end of the command, which writes the errors as JSON there.
    """
    try:
        yield
    except GpuprovError as error:
        told = tuple(_from_repository(diagnostic) for diagnostic in error.diagnostics)
        wanted = [f for f in formats if f.file is not None or not as_json]
        write_reports(ParityReport(parity=None, diagnostics=told, version=version("gpuprov")), wanted, terminal)
        raise


def verdict_report(parity: Parity, places: Mapping[str, Span]) -> ParityReport:
    """The report on a verdict."""
    told = tuple(_from_repository(diagnostic) for diagnostic in parity.diagnostics)
    return ParityReport(parity=parity, diagnostics=told, places=places, version=version("gpuprov"))


def _from_repository(diagnostic: Diagnostic) -> Diagnostic:
    span = diagnostic.span
    return replace(diagnostic, span=replace(span, file=from_repository(span.file))) if span is not None else diagnostic
