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


def shown(text: str, column: int, end_column: int | None = None) -> list[str]:
    """The lines with the source line and the caret."""
    span = Span(file="f", line=1, column=column, end_column=end_column, text=text)
    lines = diagnostic_text(Diagnostic(code="GP-DOC-002", summary="s", span=span)).plain.splitlines()
    return [line.removeprefix("  1 | ").removeprefix("    | ") for line in lines[3:5]]


def test_the_caret_counts_columns_of_the_screen() -> None:
    assert shown("名前: x", 5, 6) == ["名前: x", " " * 6 + "^"]
    assert shown("名前: x", 1, 3) == ["名前: x", "^" * 4]


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    line, caret = shown("a" * 5000 + "X" + "b" * 5000, 5001, 5002)
    assert line == "..." + "a" * 60 + "X" + "b" * 79 + "..."
    assert caret.index("^") == line.index("X")
    assert caret.count("^") == 1


def test_a_wide_mark_ends_with_what_is_shown() -> None:
    line, caret = shown("[" + "x" * 5000, 1, 5002)
    assert line.endswith("x...")
    assert caret.count("^") == 140


def test_text_of_a_file_does_not_steer_the_terminal() -> None:
    span = Span(file="a\x1b[2J", line=1, column=3, text="\x1b[31mred\x07\u202etxt")
    found = Diagnostic(
        code="GP-SPEC-001", address="\x1b]0;t\x07", summary="key \x1b[2J", detail="a\rb", hint="\x9b", span=span
    )
    text = diagnostic_text(found).plain
    assert [mark for mark in text if not mark.isprintable() and mark != "\n"] == []
    assert "\\x1b[2J" in text


def test_a_text_that_is_too_long_is_cut() -> None:
    found = Diagnostic(code="GP-SPEC-001", summary="k" * 100_000)
    assert len(diagnostic_text(found).plain) < 1100


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
