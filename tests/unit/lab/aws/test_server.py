import os
import subprocess
import sys

import pytest

from gpuprov.lab.aws import server
from gpuprov.lab.seed import draw
from gpuprov.model.diagnostic import GpuprovError


def test_moto_is_told_the_account_and_to_check_what_it_can() -> None:
    """In a process of its own: moto reads its environment when it is imported."""
    cloud = draw(7, nodes=1).cloud
    assert cloud is not None
    code = (
        "from moto import settings\nfrom moto.core.responses import BaseResponse\n"
        "from moto.ec2.models import ec2_backends\naccount = BaseResponse().get_current_account()\n"
        f"backend = ec2_backends[account]['{cloud.region}']\n"
        "print(account, settings.ENABLE_AMI_VALIDATION, settings.ENABLE_KEYPAIR_VALIDATION,"
        " settings.EC2_ENABLE_INSTANCE_TYPE_VALIDATION, len(backend.amis))"
    )
    environment = {**os.environ, **server.settings(cloud)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [cloud.account, "True", "True", "True", "0"]


def test_a_lab_without_a_cloud_has_no_server(tmp_path: object) -> None:
    lab = draw(7, nodes=1, cloud=False)
    with pytest.raises(GpuprovError, match="no cloud"):
        server.build(lab, tmp_path)  # type: ignore[arg-type]


def test_the_server_of_a_lab_that_is_not_there_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.cgroup, "join", lambda _: None)
    monkeypatch.setattr(server, "read_record", lambda _: None)
    with pytest.raises(GpuprovError, match="there is no lab zz with a cloud"):
        server.main("zz")
