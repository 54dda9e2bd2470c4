"""A fault as its case file names it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = Path(__file__).parents[2] / "cases" / "matrix"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What goes wrong when, what the user must be told, what must be on the host, what must mend it."""

    do: str
    """The fault, a function of faults.py."""
    move: str
    """What the run was doing: `driver` or `toolkit`."""
    when: str = ""
    """The moment, a method of moments.py; empty for before the run."""
    heal: float | None = None
    """Seconds after which it is undone while the run goes on; None for after the run."""
    env: Mapping[str, str] = field(default_factory=dict)
    status: int
    """Of the run; negative for the signal that ended it."""
    codes: tuple[str, ...] = ()
    """Any one of them must be the run's first error; none for no error."""
    words: tuple[str, ...] = ()
    """What the user must be told, all of them; {host} is the host's name."""
    left: Mapping[str, str]
    """What must be on the host then (Rack.look), alternatives parted by |."""
    mend: str = "up"
    """The command that mends the host: `up`, `resume` (`up --resume`), or `rollback` to where the move began."""
    at_once: bool = False
    """Whether it begins while a transaction of the lost run may still be at work."""
    quick: bool = False
    """Whether `make test` tries it too; `make matrix` tries all."""

    @property
    def id(self) -> str:
        """Its name among the tests."""
        mend = "" if self.mend == "up" else self.mend
        return "-".join(part for part in (self.do, self.when, self.move, mend) if part)

    @property
    def at(self) -> str:
        """The moment in words."""
        when = self.when or "before the run"
        return f"{when}, {self.move}" + (f", for {self.heal:g} s" if self.heal else "")


def cases(*names: str) -> list[Any]:
    """The cases of files as parameters of a test."""
    found = []
    for row in (row for name in names for row in yaml.safe_load((CASES / name).read_text(encoding="utf-8"))):
        for fault in row["do"] if isinstance(row["do"], list) else [row["do"]]:
            lists = {key: tuple(row[key]) for key in ("codes", "words") if key in row}
            case = Case(**{**row, **lists, "do": fault})
            found.append(pytest.param(case, id=case.id))
    return found


def quick_cases(*names: str) -> list[Any]:
    """Those of them that `make test` tries."""
    return [parameter for parameter in cases(*names) if parameter.values[0].quick]
