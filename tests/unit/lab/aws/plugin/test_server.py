import subprocess
import sys
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from gpuprov.lab.aws.plugin.server import PluginServer

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

ENDPOINT = "http://127.0.0.1:1"


@pytest.fixture
def process() -> Iterator["subprocess.Popen[str]"]:
    """The plugin as the lab starts it, outside a lab and on a free port."""
    command = (sys.executable, "-m", "gpuprov.lab.aws.plugin", "-", "0", ENDPOINT)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        yield started
        started.kill()


@pytest.mark.timeout(90)  # a second interpreter loads the SDK
def test_the_process_says_where_it_listens_and_answers(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("aws plugin: 127.0.0.1:")
    assert line.rstrip().endswith(ENDPOINT)
    address = line.split()[2].rstrip(",")
    with grpc.insecure_channel(address) as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        answer = stub.Handshake(provider_pb2.ProviderHandshakeRequest(engine_address="127.0.0.1:1"))
        assert answer.accept_secrets
        assert stub.GetPluginInfo(empty_pb2.Empty()).version


def test_a_port_that_is_taken_is_an_error() -> None:
    first = PluginServer(endpoint=ENDPOINT)
    with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{first.port}"):
        PluginServer(endpoint=ENDPOINT, port=first.port)
    first.stop()
