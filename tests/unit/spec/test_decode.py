"""Specs that are refused, case by case; specs that load; and no text at all that makes `load` raise."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprov.model.diagnostic import Diagnostic, status_of
from gpuprov.spec.decode import load
from gpuprov.spec.types import Spec

FOLDER = Path(__file__).parents[2] / "cases" / "spec"
REFUSED = yaml.safe_load((FOLDER / "refused.yaml").read_text())
LOADED = yaml.safe_load((FOLDER / "loaded.yaml").read_text())
CLOUD = yaml.safe_load((FOLDER / "cloud.yaml").read_text())
REFUSALS = [(REFUSED["base"], case) for case in REFUSED["cases"]] + [(CLOUD["base"], case) for case in CLOUD["refused"]]
LOADS = [(REFUSED["base"], case) for case in LOADED["cases"]] + [(CLOUD["base"], case) for case in CLOUD["loaded"]]


def name_of(value: Any) -> str:
    return str(value["id"]) if isinstance(value, dict) else ""


def text_of(case: dict[str, Any], base: str) -> str:
    text: str = case.get("text", base)
    for old, new in case.get("change", {}).items():
        assert text.count(old) == 1, f"{old!r} must occur once"
        text = text.replace(old, new)
    return text


def row(found: Diagnostic) -> list[Any]:
    assert found.span is not None
    return [found.code, found.address, found.span.line, found.span.column, found.span.end_column]


@pytest.mark.parametrize(("base", "case"), REFUSALS, ids=name_of)
def test_refused(base: str, case: dict[str, Any]) -> None:
    spec, found = load(text_of(case, base), "gpuprov.yaml")
    assert spec is None
    assert [row(d) for d in found] == case["found"]
    assert status_of(found) == case["status"]
    said = f"{found[0].summary} {found[0].detail} {found[0].hint}"
    for word in case.get("words", []):
        assert word in said


def reach(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[part] if isinstance(value, dict) else value[int(part)] if part.isdigit() else getattr(value, part)
    return value


@pytest.mark.parametrize(("base", "case"), LOADS, ids=name_of)
def test_loaded(base: str, case: dict[str, Any]) -> None:
    spec, found = load(text_of(case, base), "gpuprov.yaml")
    assert found == ()
    assert spec is not None
    for path, value in case["values"].items():
        seen = reach(spec, path)
        assert (list(seen) if isinstance(seen, tuple) else seen) == value, path


def good(text: str = REFUSED["base"]) -> Spec:
    spec, found = load(text, "gpuprov.yaml")
    assert found == ()
    assert spec is not None
    return spec


def test_digest_does_not_see_comments_order_or_path() -> None:
    other = REFUSED["base"].replace("name: site\nos: debian-12\n", "os: debian-12 # why\n\nname: 'site'\n")
    assert other != REFUSED["base"]
    spec, _ = load(other, "elsewhere/spec.yaml")
    assert spec is not None
    assert spec.digest == good().digest


@pytest.mark.parametrize(
    ("old", "new"), [("580.*", "595.*"), ("per_host: 8", "per_host: 4"), ('text: "x"', 'text: "y"'), ("[htop]", "[]")]
)
def test_digest_sees_every_value(old: str, new: str) -> None:
    assert good(REFUSED["base"].replace(old, new)).digest != good().digest


def test_spans_lead_to_the_text() -> None:
    spec = good()
    lines = REFUSED["base"].splitlines()
    expected = {
        "stack.cuda": '"13.0"',
        "pools.train.gpu.model": "H100-SXM5-80GB",
        'files["/etc/motd"].mode': '"0644"',
        "pools.train": "train",
        "stack.packages[0]": "htop",
    }
    for address, text in expected.items():
        span = spec.spans[address]
        assert span.end_column is not None
        assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == text


@settings(deadline=None)
@given(st.data())
def test_no_mutation_of_a_spec_makes_load_raise(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([REFUSED["base"], CLOUD["base"]]))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 8))
        piece = data.draw(
            st.sampled_from(
                [
                    "",
                    ":",
                    "\n",
                    "  ",
                    "[",
                    "]",
                    "{",
                    "}",
                    '"',
                    "'",
                    "*a",
                    "&a ",
                    "null",
                    "- ",
                    "#",
                    "1.0",
                    "\t",
                    "|",
                    "é",
                ]
            )
        )
        text = text[:at] + piece + text[at + cut :]
    spec, found = load(text, "gpuprov.yaml")
    assert (spec is None) == bool(found)
    assert all(d.span is not None and d.span.line >= 1 for d in found)


def test_hosts_are_named_by_the_pool_where_they_are_counted() -> None:
    spec = good(CLOUD["base"].replace("hosts: [train-a, train-b]", "count: 2"))
    cloud = spec.pools["train"].cloud
    assert cloud is not None
    assert cloud.names("train") == ("train-1", "train-2")


@pytest.mark.parametrize(
    ("old", "new"),
    [("train-b", "train-c"), ("us-east-1", "us-east-2"), ("500GiB", "600GiB"), ("203.0.113.0/24", "203.0.112.0/24")],
)
def test_digest_sees_the_cloud_half(old: str, new: str) -> None:
    assert good(CLOUD["base"].replace(old, new)).digest != good(CLOUD["base"]).digest
