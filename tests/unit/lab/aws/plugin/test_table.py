import re

import pytest

from gpuprov.lab.aws.plugin import schema, table
from gpuprov.lab.aws.plugin.handlers import HANDLERS

ROWS = [row for token in sorted(table.implemented()) for row in table.properties(token).values()]
SOURCES = table.document("properties.json")["sources"]


def test_each_type_of_the_table_has_a_handler_and_each_handler_a_type() -> None:
    assert table.implemented() == set(HANDLERS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.type.rpartition(':')[2]}.{row.property}")
def test_each_row_has_a_source_and_is_a_property_of_the_sdk(row: table.Property) -> None:
    assert row.source in SOURCES
    assert isinstance(row.replaces, bool) or row.replaces in table.CONDITIONS
    known = schema.resource_class(row.type)
    assert known is not None
    arguments = known.arguments
    for name in row.property.split("."):
        types = schema.fields(arguments)[0]
        assert name in types
        arguments = schema.nested(types[name]) or arguments


def test_each_source_says_where_and_when_it_was_read() -> None:
    used = {row.source for row in ROWS} | {row.autoname_source for row in ROWS if row.autoname}
    assert used == set(SOURCES)
    for source in SOURCES.values():
        assert re.fullmatch(r"[\w-]+/[\w-]+", source["repository"])
        assert re.fullmatch(r"[0-9a-f]{40}", source["commit"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", source["read"])
        assert source["file"].endswith((".go", ".markdown"))


def test_a_row_for_each_property_and_no_more() -> None:
    rows = table.document("properties.json")["rows"]
    names = [(row["type"], row["property"]) for row in rows]
    assert len(names) == len(set(names))


def test_each_rule_has_a_source_and_is_about_a_known_property() -> None:
    sources = table.document("rules.json")["sources"]
    assert {rule.source for rule in table.rules()} == set(sources)
    for rule in table.rules():
        first = re.split(r"[.\[]", rule.property)[0]
        assert not first or first in table.properties(rule.type), rule
        assert rule.by == "provider" or rule.code, rule
    for name, text in sources.items():
        assert "read 2026-11-30" in text or "not read here" in text, name
