import importlib
import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from moto import settings
from moto.core.responses import BaseResponse

from gpuprov.lab.aws import server
from gpuprov.lab.description import CloudDescription
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`


@pytest.fixture
def told() -> Iterator[CloudDescription]:
    """Moto's settings as they are read where the server has set the environment."""
    cloud = draw(7, nodes=1).cloud
    assert cloud is not None
    with patch.dict(os.environ, server.settings(cloud)):
        importlib.reload(settings)
        yield cloud
    importlib.reload(settings)


def test_moto_is_told_the_account_and_to_check_what_it_can(told: CloudDescription) -> None:
    assert settings.ENABLE_AMI_VALIDATION
    assert settings.ENABLE_KEYPAIR_VALIDATION
    assert settings.EC2_ENABLE_INSTANCE_TYPE_VALIDATION
    assert not settings.ec2_load_default_amis()
    assert BaseResponse().get_current_account() == told.account


def test_a_lab_without_a_cloud_has_no_server(tmp_path: object) -> None:
    lab = draw(7, nodes=1, cloud=False)
    with pytest.raises(GpuprovError, match="no cloud"):
        server.build(lab, tmp_path)  # type: ignore[arg-type]


def test_the_server_of_a_lab_that_is_not_there_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.cgroup, "join", lambda _: None)
    monkeypatch.setattr(server, "read_record", lambda _: None)
    with pytest.raises(GpuprovError, match="there is no lab zz with a cloud"):
        server.main("zz")
