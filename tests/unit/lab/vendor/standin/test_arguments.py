import pytest

from gpuprov.lab.vendor.standin.arguments import has, option


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "d"),
        (["--id=3"], "3"),
        (["-i", "3"], "3"),
        (["-i", "3", "--id=4"], "4"),
        (["-i"], "d"),
        (["--identity=3"], "d"),
        (["--id="], ""),
    ],
)
def test_option(arguments: list[str], expected: str) -> None:
    assert option(arguments, "-i", "--id", default="d") == expected


def test_has() -> None:
    assert has(["-q", "-i", "0"], "-q", "--query")
    assert not has(["--query-gpu=name"], "-q", "--query")
