"""apt itself on the small cases of tests/cases/lock/choices.yaml: what they expect is what apt does."""

import pytest
from private_apt import PrivateApt
from small_choices import small_choices

SMALL = small_choices()

pytestmark = [pytest.mark.network, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def apt(tmp_path_factory: pytest.TempPathFactory) -> PrivateApt:
    """An apt whose sources hold all cases."""
    return SMALL.apt(tmp_path_factory.mktemp("choices"))


@pytest.mark.parametrize("prefix", SMALL.cases, ids=lambda prefix: SMALL.cases[prefix]["name"])
def test_apt_brings_what_the_case_expects(prefix: str, apt: PrivateApt) -> None:
    plan = apt.simulate("install", *SMALL.request(prefix))
    assert plan is not None
    found = sorted(f"{name.removeprefix(f'{prefix}-')} {version}" for name, version in plan.items())
    assert found == SMALL.cases[prefix]["expect"]
