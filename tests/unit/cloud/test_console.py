from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cloud.console import find_host_keys, last_lines

DATA = yaml.safe_load((Path(__file__).parents[2] / "cases" / "cloud" / "console.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["name"])
def test_a_console_shows(case: dict[str, Any]) -> None:
    text = case["text"].replace("\n", "\r\n") if case.get("crlf") else case["text"]
    assert [key.text for key in find_host_keys(text)] == [DATA["keys"][name] for name in case["keys"]]


def test_each_case_has_a_source() -> None:
    assert all(case["source"] for case in DATA["cases"])


def test_the_last_lines_are_those_with_something_in_them() -> None:
    assert last_lines("a\r\n\r\nb  \r\n\n c\n\n", 2) == "b\n c"
