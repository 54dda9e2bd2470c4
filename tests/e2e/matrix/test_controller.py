"""The controller is killed, interrupted, or cut off from the host, at every moment of a run."""

import pytest

from tests.e2e.matrix.case import Case, cases
from tests.e2e.matrix.rack import Rack
from tests.e2e.matrix.trial import Note, attempt

pytestmark = [pytest.mark.lab, pytest.mark.matrix, pytest.mark.timeout(900)]


@pytest.mark.parametrize("case", cases("controller.yaml"))
def test_what_a_lost_controller_leaves_is_mended(case: Case, rack: Rack, record_property: Note) -> None:
    attempt(case, rack, record_property)
