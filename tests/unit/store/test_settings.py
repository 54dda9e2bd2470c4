import pytest

from gpuprov.store.settings import source_timeout, user_file


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/gpuprov/config.yaml"),
        ({"HOME": "/h"}, "/h/.config/gpuprov/config.yaml"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/gpuprov/config.yaml"),
    ],
)
def test_where_the_users_file_is(environment: dict[str, str], expected: str) -> None:
    assert str(user_file(environment)) == expected


def test_how_long_a_source_may_be_silent() -> None:
    assert source_timeout({}) == 30.0
    assert source_timeout({"GPUPROV_SOURCE_TIMEOUT": "5"}) == 5.0
