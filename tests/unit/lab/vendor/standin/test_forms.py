import pytest

from gpuprov.lab.vendor.standin.forms import Kit, render


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a}-{b}", "x-7"),
        ("|{a:4}|{b:>3}|", "|x   |  7|"),
        ("{a:1}{b:>1}", "x7"),
        ('m{gpu="{b}"} {a}', 'm{gpu="7"} x'),
        ("{ } {A} {}", "{ } {A} {}"),
    ],
)
def test_only_names_in_braces_are_placeholders(text: str, expected: str) -> None:
    assert render(text, {"a": "x", "b": 7}) == expected


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="missing"):
        render("{missing}", {})


def test_stopping_prints_the_form_and_gives_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    kit = Kit(texts={"a.b": "no {what}\n"}, statuses={"a.b": 9}, data={})
    assert kit.stop("a.b", what="driver") == 9
    assert capsys.readouterr().out == "no driver\n"
