"""What Ansible's programs print when they refuse an inventory (ansible-core 2.19), as diagnostics."""

from pathlib import Path

import pytest

from gpuprov.provision.program import explain_refusal

YAML = """\
[WARNING]: Failed to parse inventory with 'auto' plugin: YAML parsing failed: While parsing a flow sequence.

Failed to parse inventory with 'auto' plugin.

<<< caused by >>>

YAML parsing failed: While parsing a flow sequence did not find expected ',' or ']'.
Origin: {path}:3:8

[WARNING]: Failed to parse inventory with 'yaml' plugin: YAML parsing failed: While parsing a flow sequence.

[ERROR]: Completely failed to parse inventory source {path}
"""
INI = """\
[WARNING]: Failed to parse inventory with 'yaml' plugin: YAML parsing failed: Did not find expected <document>.

Failed to parse inventory with 'yaml' plugin.

[WARNING]: Failed to parse inventory with 'ini' plugin: Failed to parse inventory: not enough values to unpack

Failed to parse inventory with 'ini' plugin.

<<< caused by >>>

Failed to parse inventory: not enough values to unpack (expected 3, got 2)
Origin: {path}

[ERROR]: Completely failed to parse inventory source {path}
"""
VAULT = "[ERROR]: Attempting to decrypt but no vault secrets found.\n"
WRONG = "[ERROR]: Decryption failed (no vault secrets were found that could decrypt). for -\n"


@pytest.mark.parametrize(
    ("name", "text", "said", "line", "words"),
    [
        ("a.yml", "all:\n  hosts:\n    a: {x: [1\n", YAML, 3, ["expected ',' or ']'"]),
        ("a.ini", "[train]\nn1\n[bad\n", INI, 3, ["not enough values"]),
        ("a.yml", "x\n", VAULT, None, ["vaulted text", "--vault-password-file"]),
        ("a.yml", "x\n", WRONG, None, ["vaulted text", "could decrypt"]),
        ("a.yml", "x\n", "Traceback\n  boom\n", None, ["status 4", "boom"]),
        ("a.yml", "x\n", "", None, ["status 4"]),
    ],
)
def test_the_cause_its_place_and_the_way_on(
    tmp_path: Path, name: str, text: str, said: str, line: int | None, words: list[str]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    told = explain_refusal("ansible-inventory", 4, said.replace("{path}", str(path)), path)
    assert told.code == "GP-INV-001"
    assert (told.span.line if told.span else None) == line
    assert [w for w in words if w not in f"{told.summary} {told.detail} {told.hint}"] == []
    assert told.span is None or told.span.text == text.splitlines()[told.span.line - 1]
