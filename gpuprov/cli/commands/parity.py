"""`gpuprov parity`."""

from pathlib import Path

import click

from gpuprov.app.access import Access
from gpuprov.app.explain_finding import keep_report
from gpuprov.app.optional_site import site_if_there
from gpuprov.app.parity import ParityRequest, parity
from gpuprov.app.places import find_places
from gpuprov.cli.options import access_options, json_option, spec_option
from gpuprov.cli.report_format import choose_formats, format_option, reporting_errors, verdict_report
from gpuprov.parity.types import FailOn
from gpuprov.render.diagnostics import show_diagnostics
from gpuprov.render.progress import ProgressView
from gpuprov.render.reports.types import ReportFormat
from gpuprov.render.reports.write import write_reports
from gpuprov.render.terminal import open_terminal


@click.command("parity")
@click.argument("operands", nargs=-1)
@click.option("--against", type=click.Choice(["lock"]), help="Compare hosts with the lock: what drifted?")
@click.option("--static", is_flag=True, help="Compare what the lock would give each target; no host is looked at.")
@click.option(
    "--fail-on",
    type=click.Choice([name.value for name in FailOn]),
    multiple=True,
    help="Give this a say in the status too; nothing but a waiver takes one away. Repeatable.",
)
@spec_option
@access_options
@format_option
@json_option
def command(
    *,
    operands: tuple[str, ...],
    against: str | None,
    static: bool,
    fail_on: tuple[str, ...],
    spec: Path,
    access: Access,
    formats: tuple[ReportFormat, ...],
    as_json: bool,
    no_colour: bool,
) -> int:
    """Show what differs, read-only: between hosts, snapshots, fleets, targets, the lock and the spec.

    An operand is a file or folder of snapshots (a name with a `/`, or ending in .json, .yaml, .lock), host:NAME,
    pool:NAME, target:onprem, target:cloud, `lock`, `spec`, or a bare name that means one thing. Without operands: all
    hosts of the spec, on all its targets, against the lock. Two fleets are compared pool by pool, each host with the
    one that most of the first fleet are equal to; a folder alone, its hosts with each other; two locks, by what moves.
    Snapshots of the same hosts on both sides are compared as before and after.

    Status: 0 in sync, 7 differences, 10 when something could not be observed.
    """
    terminal = open_terminal(colour=False if no_colour else None)
    chosen = choose_formats(formats, as_json=as_json)
    with reporting_errors(chosen, terminal, as_json=as_json):
        site = site_if_there(spec)
        request = ParityRequest(
            operands=operands,
            against_lock=against == "lock",
            site=site,
            access=access,
            static=static,
            fail_on=frozenset(FailOn(name) for name in fail_on),
        )
        with ProgressView(terminal) as view:
            result = parity(request, view)
        places = find_places(site, result)
        not_kept = keep_report(result, site.path if site is not None else None)
    show_diagnostics((*result.diagnostics, *not_kept), terminal)
    write_reports(verdict_report(result, places), chosen, terminal)
    return int(result.status)
