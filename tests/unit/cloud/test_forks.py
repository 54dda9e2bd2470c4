"""What gRPC, which Pulumi's SDK brings, does to the programs that gpuprov starts."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

FORKS = """
import sys
import gpuprov.cloud.workspace  # as the product does: it loads gRPC
import concurrent.futures, os, grpc, pexpect
server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/a/b")
for _ in range(40):
    try:
        call(b"x", timeout=5)
    except grpc.RpcError:
        pass
    child = pexpect.spawn("/bin/echo", ["hello"], use_poll=True, encoding="utf-8")
    said = child.read().strip()
    child.close()
    if (said, child.exitstatus) != ("hello", 0):
        print(said, child.exitstatus, child.signalstatus)
        os._exit(1)
print("fork handlers are " + ("off" if os.environ["GRPC_ENABLE_FORK_SUPPORT"] == "false" else "on"))
os._exit(0)
"""


def test_a_program_that_is_started_beside_a_connection_to_the_engine_begins() -> None:
    """As ansible-runner starts Ansible: with gRPC's fork handlers about one child in sixty died before its exec."""
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=False, timeout=25)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "fork handlers are off"
