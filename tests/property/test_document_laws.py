"""Laws of reading YAML: any bytes end in a tree or in problems with places; a tree says what any YAML reader says."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpuprov.document.node import MappingNode, Node, Scalar
from gpuprov.document.text import decode_text
from gpuprov.document.yaml_text import MAX_PROBLEMS, MAX_VALUES, read_yaml
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.decode import load
from gpuprov.spec.draft import example_inventory, example_spec

CASES = Path(__file__).parents[1] / "cases"
TEXTS = [
    example_spec(),
    example_inventory(),
    *(yaml.safe_load((CASES / "spec" / name).read_text())["base"] for name in ("refused.yaml", "cloud.yaml")),
    (CASES / "forms" / "container.yaml").read_text()[:4000],
]
PIECES = [
    *":-{}[]\"'\n\t #&*!|>%@`?,~<=\r\0\x07\x1b",
    *"\x85\u2028\u00a0\u200b\u201c\ufeffé",
    *("- ", ": ", "a: ", "---\n", "...\n", "*a", "&a ", "<<: ", "{{ x }}", "!!str ", "%YAML 1.1\n", "on", "1_0"),
    *("580.95", "580e1", "22:22", "2027-01-01", "pools:\n", "  stack: {}\n", "[" * 40, "name: x\n"),
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A document of gpuprov with a few pieces put in, taken out or doubled, as bytes."""
    data = draw(st.sampled_from(TEXTS)).encode()
    for _ in range(draw(st.integers(1, 4))):
        at, cut = draw(st.integers(0, len(data))), draw(st.integers(0, 12))
        kept = data[at : at + cut] * draw(st.integers(0, 3))
        piece = draw(st.one_of(st.sampled_from(PIECES).map(str.encode), st.binary(max_size=3), st.just(kept)))
        data = data[:at] + piece + data[at + cut :]
    return data


def text_of(data: bytes) -> tuple[str | None, tuple[Diagnostic, ...]]:
    try:
        return decode_text(data, "f"), ()
    except GpuprovError as error:
        return None, error.diagnostics


def plain(node: Node) -> Any:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, MappingNode):
        return {entry.key.text: plain(entry.value) for entry in node.entries}
    return [plain(item) for item in node.items]


def check_places(found: tuple[Diagnostic, ...], lines: int) -> None:
    assert len(found) <= 2 * MAX_PROBLEMS + 2
    for problem in found:
        assert problem.summary
        assert problem.span is not None
        assert 1 <= problem.span.line <= lines + 1
        assert problem.span.column >= 1


@given(mutated())
def test_any_bytes_are_read_or_refused_with_places(data: bytes) -> None:
    text, found = text_of(data)
    if text is not None:
        root, found = read_yaml(text, "f")
        assert (root is not None) or found
    check_places(found, data.count(b"\n") + data.count(b"\r") + data.count(b"\xc2\x85") + data.count(b"\xe2\x80") + 1)


@given(mutated())
def test_what_is_read_without_a_problem_is_what_yaml_says(data: bytes) -> None:
    """Two readers of YAML are asked: libyaml's, and Python's own, which refuses some texts that libyaml takes."""
    text, _ = text_of(data)
    root, found = read_yaml(text, "f") if text is not None else (None, ())
    if root is None or found:
        return
    assert plain(root) == yaml.load(text or "", Loader=yaml.CBaseLoader)  # noqa: S506 - it makes texts only
    with suppress(yaml.YAMLError):
        assert plain(root) == yaml.load(text or "", Loader=yaml.BaseLoader)  # noqa: S506 - the same


@given(mutated())
def test_a_spec_is_loaded_or_refused_with_places(data: bytes) -> None:
    text, _ = text_of(data)
    if text is not None:
        spec, found = load(text, "f")
        assert (spec is None) == bool(found)
        check_places(found, len(text))


HEAD = "apiVersion: gpuprov/v1\nname: t\nos: debian-12\n"
NUMBERS = range(9000)
LARGE = {
    "a million laughs": "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in NUMBERS),
    "laughs by overrides": f"{HEAD}stack: {{packages: [{','.join(f'a{n}' for n in NUMBERS)}]}}\npools:\n"
    + "".join(f"  a{n}: {{gpu: none, stack: {{fabric: none}}}}\n" for n in NUMBERS),
    "one package, many times": f"{HEAD}stack: {{packages: [{'ab,' * 60_000}]}}\npools: {{a: {{gpu: none}}}}\n",
    "unknown keys": f"{HEAD}pools: {{a: {{gpu: none}}}}\n" + "".join(f"k{n}: v\n" for n in NUMBERS),
    "a number that never ends": f"{HEAD}pools: {{a: {{gpu: {{model: a, per_host: 1{':1' * 400_000}}}}}}}\n",
    "more values than any spec has": f"a: [{'a,' * 500_000}]\n",
    "open brackets": "a: " + "[" * 1_000_000,
    "question marks": "? " * 500_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_nonsense_ends_soon_and_says_little(name: str) -> None:
    """The time limit of a test is the check: the work must not grow with the square of the text."""
    spec, found = load(LARGE[name], "f")
    assert spec is None
    assert 1 <= len(found) <= MAX_PROBLEMS + 1


@pytest.mark.slow
def test_the_most_values_are_read_and_not_one_more() -> None:
    """The list is a value too."""
    root, found = read_yaml(f"[{'a,' * (MAX_VALUES - 1)}]", "f")
    assert found == ()
    assert root is not None
    root, found = read_yaml(f"[{'a,' * MAX_VALUES}]", "f")
    assert [problem.code for problem in found] == ["GP-DOC-003"]
    assert root is None
