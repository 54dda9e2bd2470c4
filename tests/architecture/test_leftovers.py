"""Which exceptions that nobody could catch are passed over: those of the SDK's own coroutines, and no others."""

from types import FunctionType, SimpleNamespace

import pytest
from sdk_leftovers import is_leftover


async def program() -> None:
    """Stands for one that is thrown away."""


@pytest.mark.parametrize(
    ("file", "passed_over"),
    [
        ("/venv/lib/python3/site-packages/pulumi/runtime/stack.py", True),
        ("/venv/lib/python3/site-packages/pulumi_aws/provider.py", False),
        ("/src/gpuprov/cloud/stack.py", False),
    ],
)
def test_a_coroutine_is_passed_over_by_where_it_is_written(file: str, *, passed_over: bool) -> None:
    thrown = FunctionType(program.__code__.replace(co_filename=file), {})()
    try:
        assert is_leftover(SimpleNamespace(object=thrown)) is passed_over
    finally:
        thrown.close()


def test_whatever_is_no_coroutine_is_reported() -> None:
    assert not is_leftover(SimpleNamespace(object=print))
