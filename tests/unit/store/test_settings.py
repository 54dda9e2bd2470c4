import pytest

from gpuprov.store.settings import apt_lock_timeout, reboot_timeout, source_timeout, user_file


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


def test_how_long_a_reboot_and_anothers_lock_are_waited_for() -> None:
    assert (reboot_timeout({}), apt_lock_timeout({})) == (1200.0, 600)
    assert reboot_timeout({"GPUPROV_REBOOT_TIMEOUT": "40"}) == 40.0
    assert apt_lock_timeout({"GPUPROV_APT_LOCK_TIMEOUT": "7"}) == 7
