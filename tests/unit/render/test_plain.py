"""A plain line: what `Terminal.out` prints, with less loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuprov.render.plain import show_line
from gpuprov.render.terminal import open_terminal

LINES = [
    "train.yaml: sound (2 pool(s): train, login)",
    "[bold]no markup[/bold] :smile: 12",
    "x" * 400,
    "prüfung",
    "a\tb",
]


@pytest.mark.parametrize("text", [*LINES, "a\x07b", ""])
def test_a_line_is_what_the_console_prints(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    show_line(text)
    mine = capfd.readouterr()
    open_terminal().out.print(text)
    assert mine == capfd.readouterr()


def test_a_plain_line_loads_no_colours_and_another_one_does() -> None:
    code = "import sys; from gpuprov.render.plain import show_line; show_line({!r}); sys.exit('rich' in sys.modules)"
    loaded = [subprocess.run([sys.executable, "-c", code.format(text)], check=False) for text in ("sound", "geprüft")]
    assert [done.returncode for done in loaded] == [0, 1]


def test_a_reader_that_went_away_ends_it_as_the_console_does(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from gpuprov.render.{} import {} as it; {}('sound')"
    ended = []
    for module, name, call in (("plain", "show_line", "it"), ("terminal", "open_terminal", "it().out.print")):
        argv = [sys.executable, "-c", code.format(module, name, call)]
        done = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, check=False, cwd=tmp_path)
        ended.append((done.returncode, done.stderr))
    os.close(writer)
    assert ended[0] == ended[1] == (1, b"")
