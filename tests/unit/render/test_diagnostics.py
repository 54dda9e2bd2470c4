"""Diagnostics on screen: readable without colour, the caret under what is wrong."""

from gpuprov.model.diagnostic import Diagnostic, Severity, Span
from gpuprov.render.diagnostics import diagnostic_text
from gpuprov.render.json_text import diagnostics_body

WRONG = Diagnostic(
    code="GP-SPEC-003",
    address="stack.cuda",
    summary="the version 12.10 is not quoted",
    detail="YAML reads it as the number 12.1",
    hint='write "12.10"',
    span=Span(file="gpuprov.yaml", line=6, column=9, end_column=14, text="  cuda: 12.10"),
)


def test_the_caret_stands_under_what_is_wrong() -> None:
    assert diagnostic_text(WRONG).plain == (
        "error[GP-SPEC-003] stack.cuda: the version 12.10 is not quoted\n"
        "  --> gpuprov.yaml:6:9\n"
        "    |\n"
        "  6 |   cuda: 12.10\n"
        "    |         ^^^^^\n"
        "  YAML reads it as the number 12.1\n"
        '  hint: write "12.10"'
    )


def test_a_span_past_the_end_of_the_line_still_gives_one_caret() -> None:
    span = Span(file="f", line=10, column=4, end_column=40, text="abc")
    shown = diagnostic_text(Diagnostic(code="GP-DOC-002", summary="s", span=span)).plain
    assert shown.splitlines()[-1] == "     |    ^"


def test_a_program_reads_every_part_and_each_diagnostic_once() -> None:
    note = Diagnostic(code="GP-LOCK-004", summary="n", severity=Severity.NOTE)
    assert diagnostics_body([WRONG, note, WRONG]) == [
        {
            "code": "GP-SPEC-003",
            "severity": "error",
            "address": "stack.cuda",
            "file": "gpuprov.yaml",
            "line": 6,
            "column": 9,
            "summary": "the version 12.10 is not quoted",
            "detail": "YAML reads it as the number 12.1",
            "hint": 'write "12.10"',
            "source": "",
        },
        {
            "code": "GP-LOCK-004",
            "severity": "note",
            "address": "",
            "file": None,
            "line": None,
            "column": None,
            "summary": "n",
            "detail": "",
            "hint": "",
            "source": "",
        },
    ]
