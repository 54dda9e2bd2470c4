"""One fault of each kind, without a reboot: what `make test` tries of the matrix."""

import pytest

from tests.e2e.matrix.case import Case, quick_cases
from tests.e2e.matrix.rack import Rack
from tests.e2e.matrix.trial import Note, attempt

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("case", quick_cases("controller.yaml", "interrupted.yaml", "host.yaml"))
def test_a_fault_is_told_and_the_next_run_mends_it(case: Case, rack: Rack, record_property: Note) -> None:
    attempt(case, rack, record_property)
