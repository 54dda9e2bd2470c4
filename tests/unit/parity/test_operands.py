from pathlib import Path

import pytest
import yaml

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.status import ExitStatus
from gpuprov.parity.operands import KnownNames, read_operand

FILE = next(p for p in Path(__file__).parents if p.name == "tests") / "cases" / "parity" / "operands.yaml"
CASES = yaml.safe_load(FILE.read_text())
KNOWN = KnownNames(
    hosts=frozenset({"node-1", "node-2", "train", "onprem"}), pools=frozenset({"train", "infer", "onprem"})
)


@pytest.mark.parametrize(("text", "kind", "name"), CASES["mean"])
def test_an_operand_with_one_meaning(text: str, kind: str, name: str) -> None:
    found = read_operand(text, KNOWN)
    assert not isinstance(found, Diagnostic), found
    assert (found.kind.value, found.name) == (kind, name)


@pytest.mark.parametrize(("text", "code", "status", "words"), CASES["refused"])
def test_an_operand_without_one(text: str, code: str, status: int, words: list[str]) -> None:
    found = read_operand(text, KNOWN)
    assert isinstance(found, Diagnostic)
    assert (found.code, found.status) == (code, ExitStatus(status))
    told = f"{found.summary}\n{found.detail}\n{found.hint}"
    assert [word for word in words if word not in told] == []


@pytest.mark.parametrize(("text", "kind", "name"), CASES["without inventory"])
def test_without_an_inventory_any_other_word_is_a_host(text: str, kind: str, name: str) -> None:
    found = read_operand(text, KnownNames(pools=frozenset({"train"}), any_host=True))
    assert not isinstance(found, Diagnostic), found
    assert (found.kind.value, found.name) == (kind, name)


def test_an_empty_word_means_nothing() -> None:
    for text in ("", "host:"):
        found = read_operand(text, KnownNames(any_host=True))
        assert isinstance(found, Diagnostic)
        assert found.code == "GP-PAR-002"
