"""Exit statuses: the fixed order, and every code's status."""

import itertools

from gpuprov.model.codes import CODES
from gpuprov.model.status import ExitStatus, combine_statuses

ORDER = [1, 8, 2, 3, 5, 4, 9, 6, 7, 10]


def test_the_first_of_the_fixed_order_wins() -> None:
    for first, second in itertools.combinations(ORDER, 2):
        assert combine_statuses([ExitStatus(second), ExitStatus(first)]) == first
    assert combine_statuses([]) == 0
    assert combine_statuses([ExitStatus.DONE, ExitStatus.DIFFERENT]) == 7


def test_every_code_has_a_title_and_a_known_status() -> None:
    assert all(code.title and code.status in ExitStatus for code in CODES.values())
