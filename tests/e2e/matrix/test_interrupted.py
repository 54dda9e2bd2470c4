"""The run is interrupted: by Ctrl-C, or because its way to the host is cut, or silent, for a while or for good."""

import pytest

from tests.e2e.matrix.case import Case, cases
from tests.e2e.matrix.rack import Rack
from tests.e2e.matrix.trial import Note, attempt

pytestmark = [pytest.mark.lab, pytest.mark.matrix, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("case", cases("interrupted.yaml"))
def test_what_an_interrupted_run_leaves_is_mended(case: Case, rack: Rack, record_property: Note) -> None:
    attempt(case, rack, record_property)
