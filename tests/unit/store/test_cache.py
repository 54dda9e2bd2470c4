from pathlib import Path

import pytest

from gpuprov.store.cache import cache_folder


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GPUPROV_CACHE": "/own", "XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/own"),
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/gpuprov"),
        ({"HOME": "/h"}, "/h/.cache/gpuprov"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/gpuprov"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/gpuprov"),
    ],
)
def test_where_the_cache_is(environment: dict[str, str], expected: str) -> None:
    assert str(cache_folder(environment)) == expected


def test_without_variables_the_home_folder_is_asked() -> None:
    assert cache_folder({}) == Path.home() / ".cache" / "gpuprov"
