"""The host's power goes, its disk is full, its module does not build, a GPU is gone, its source lies."""

import pytest

from tests.e2e.matrix.case import Case, cases
from tests.e2e.matrix.rack import Rack
from tests.e2e.matrix.trial import Note, attempt

pytestmark = [pytest.mark.lab, pytest.mark.matrix, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("case", cases("host.yaml"))
def test_what_a_host_in_trouble_is_left_with_is_mended(case: Case, rack: Rack, record_property: Note) -> None:
    attempt(case, rack, record_property)
