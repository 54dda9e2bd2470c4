"""A46: what programs print must not change with the host's language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

MODULES = sorted((Path(__file__).parents[3] / "playbooks" / "plugins" / "modules").glob("*.py"))
CALLING = [path for path in MODULES if ".run_command(" in path.read_text(encoding="utf-8")]


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run_command":
            yield node


def given(call: ast.Call, tree: ast.AST) -> dict[str, str]:
    """The variables that a call sets: written there, or under a name that the module gives them."""
    value = next((word.value for word in call.keywords if word.arg == "environ_update"), None)
    if isinstance(value, ast.Name):
        named = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == value.id]
        value = named[0].value if named else None
    if not isinstance(value, ast.Dict):
        return {}
    pairs = zip(value.keys, value.values, strict=True)
    return {str(k.value): str(v.value) for k, v in pairs if isinstance(k, ast.Constant) and isinstance(v, ast.Constant)}


@pytest.mark.parametrize("path", CALLING, ids=lambda path: path.stem)
def test_every_program_speaks_the_same_language(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {call.lineno: given(call, tree) for call in calls(tree)}
    assert found
    wrong = [
        line for line, values in found.items() if (values.get("LC_ALL"), values.get("LANGUAGE")) != ("C.UTF-8", "")
    ]
    assert wrong == [], f"lines of {path.name} that run a program without LC_ALL=C.UTF-8 and an empty LANGUAGE"
