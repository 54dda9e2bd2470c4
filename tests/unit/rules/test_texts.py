"""Every rule has a text, what the text names is there, and the code that it stands for is one that a rule gives."""

from pathlib import Path

import pytest

from gpuprov.catalog.load import FILES, PACKAGED
from gpuprov.model.codes import CODES
from gpuprov.rules.texts import RULES

ROOM = Path(__file__).parents[3] / "gpuprov" / "rules"
SOURCE = "".join(path.read_text() for path in sorted(ROOM.glob("*.py")) if path.name != "texts.py")
ABOUT_RULES = {"GP-RULE-900", "GP-RULE-901"}


def test_every_rule_has_a_text() -> None:
    assert set(RULES) == {code for code in CODES if code.startswith("GP-RULE-")} - ABOUT_RULES


@pytest.mark.parametrize("code", RULES)
def test_what_a_text_names_is_there(code: str) -> None:
    text = RULES[code]
    for table, field in text.basis:
        rows = PACKAGED.table(table).rows
        assert field in FILES[table].__dataclass_fields__
        assert any(getattr(row, field) not in (None, ()) for row in rows), f"no row has {table}.{field}"
        # The rules read it: by the field's name, in the room.
        assert f".{field}" in SOURCE or f'"{field}"' in SOURCE
    assert f'"{code}"' in SOURCE
    assert text.asks.endswith(".")
    assert text.reads
    assert text.satisfies
