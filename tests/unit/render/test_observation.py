"""A value of a host in a sentence: shown, on one line, and never a command for the terminal."""

import pytest

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.render.observation import observation_text


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (Known("580.95.05"), "580.95.05"),
        (Known(["a", "ü"]), '["a", "ü"]'),
        (Known("one\ntwo\r"), "one\\ntwo\\r"),
        (Known("\x1b[2J\x07"), "\\x1b[2J\\x07"),
        (Known("abc\u202edcb\u2028"), "abc\\u202edcb\\u2028"),
        (Known("\udc80"), "\\udc80"),
        (Known("x" * 101), "x" * 97 + "..."),
        (Absent(), "absent"),
        (Unknown("said \x1b[31m"), "unknown (said \\x1b[31m)"),
    ],
)
def test_a_value_is_shown_on_one_line_and_steers_nothing(observation: Observation, text: str) -> None:
    assert observation_text(observation) == text
