"""The gRPC server around the provider, on the loopback only."""

from collections.abc import Callable
from concurrent import futures

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from gpuprov.lab.aws.plugin import schema, table
from gpuprov.lab.aws.plugin.cloud import Cloud
from gpuprov.lab.aws.plugin.provider import Provider

_WORKERS = 64
"""Requests at once: the engine asks for as many as it has resources in flight, and a Create waits for its instance."""
_MESSAGE_BYTES = 400 * 1024 * 1024
"""What Pulumi's own SDKs allow for one message (pulumi/provider/server.py of the SDK, read 2026-11-30)."""


class PluginServer:
    """A plugin that listens on 127.0.0.1."""

    def __init__(
        self, *, endpoint: str, port: int = 0, region: str | None = None, say: Callable[[str], None] = lambda _: None
    ) -> None:
        """Bind the port; 0 takes a free one.

        Args:
            endpoint: the URL that answers AWS's API, for example "http://127.0.0.1:5000".
            port: TCP port.
            say: takes the lines of the log.
            region: the region where the engine's configuration names none; by default from AWS_REGION.

        Raises:
            OSError: the port is taken.
        """
        self._server = grpc.server(
            futures.ThreadPoolExecutor(max_workers=_WORKERS),
            options=[
                ("grpc.max_receive_message_length", _MESSAGE_BYTES),
                ("grpc.max_send_message_length", _MESSAGE_BYTES),
                ("grpc.so_reuseport", 0),
            ],
        )
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(
            Provider(Cloud(endpoint=endpoint, region=region), say), self._server
        )
        try:
            self.port: int = self._server.add_insecure_port(f"127.0.0.1:{port}")
        except RuntimeError as error:  # what grpcio raises for a port that is taken
            raise OSError(f"the AWS plugin cannot listen on 127.0.0.1:{port}: {error}") from error

    def start(self) -> None:
        """Load what the SDK knows of each type, seconds of work that no request shall wait for; begin to answer."""
        for token in sorted(table.implemented()):
            schema.resource_class(token)
        self._server.start()

    def wait(self) -> None:
        """Serve until the process is ended."""
        self._server.wait_for_termination()

    def stop(self) -> None:
        """End at once, for tests."""
        self._server.stop(grace=None).wait()
