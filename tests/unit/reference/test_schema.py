"""The JSON schema and the decoder agree: what loads fits, and what a schema can show is refused by both."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gpuprov.reference.schema import spec_schema
from gpuprov.spec.draft import example_spec

FOLDER = Path(__file__).parents[2] / "cases" / "spec"
REFUSED = yaml.safe_load((FOLDER / "refused.yaml").read_text())
LOADED = yaml.safe_load((FOLDER / "loaded.yaml").read_text())
CLOUD = yaml.safe_load((FOLDER / "cloud.yaml").read_text())
SCHEMA = jsonschema.Draft202012Validator(spec_schema())

STRUCTURAL = {"GP-SPEC-001", "GP-SPEC-002", "GP-SPEC-006"}
"""Codes that the schema can show as well."""
ONLY_IN_TEXT = {
    "number in octal",
    "truth value in another spelling",
    "hosts without public addresses",
    "a mount of a bucket",
}
"""YAML's reading hides these from a schema, or they are said in a check."""


def document(case: dict[str, Any], base: str = REFUSED["base"]) -> Any:
    text = case.get("text", base)
    for old, new in case.get("change", {}).items():
        text = text.replace(old, new)
    # BaseLoader's dates: a schema sees JSON, which has none.
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)
    return yaml.load(text, Loader=loader)  # noqa: S506 - a SafeLoader


def shows(case: dict[str, Any]) -> bool:
    """Whether a schema can show what is wrong; a text that YAML's own loader cannot read never comes that far."""
    codes = {found[0] for found in case["found"]}
    readable = not any(code.startswith("GP-DOC") for code in codes)
    return readable and bool(codes & STRUCTURAL) and case["id"] not in ONLY_IN_TEXT


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(spec_schema())


@pytest.mark.parametrize("case", LOADED["cases"], ids=lambda case: case["id"])
def test_what_loads_fits(case: dict[str, Any]) -> None:
    assert [error.message for error in SCHEMA.iter_errors(document(case))] == []


@pytest.mark.parametrize("case", CLOUD["loaded"], ids=lambda case: case["id"])
def test_what_loads_of_the_cloud_fits(case: dict[str, Any]) -> None:
    assert [error.message for error in SCHEMA.iter_errors(document(case, CLOUD["base"]))] == []


def test_the_example_fits() -> None:
    assert [error.message for error in SCHEMA.iter_errors(document({"text": example_spec()}))] == []


@pytest.mark.parametrize(
    "case",
    [c for c in REFUSED["cases"] if shows(c)],
    ids=lambda case: case["id"],
)
def test_what_a_schema_can_show_is_refused_by_it(case: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(document(case))


@pytest.mark.parametrize(
    "case",
    [c for c in CLOUD["refused"] if shows(c)],
    ids=lambda case: case["id"],
)
def test_what_a_schema_can_show_of_the_cloud_is_refused_by_it(case: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(document(case, CLOUD["base"]))
