"""An engine for tests of the lab's AWS plugin: it sends what Pulumi's engine sends, over a real gRPC connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from gpuprov.lab.aws.plugin import wire
from gpuprov.lab.aws.plugin.server import PluginServer


@dataclass(kw_only=True)
class Kept:
    """A resource as an engine keeps it in its state."""

    type: str
    name: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    history: list[str] = field(default_factory=list)

    @property
    def urn(self) -> str:
        """The engine's name of the resource."""
        return f"urn:pulumi:test::gpuprov-aws::{self.type}::{self.name}"


class RefusedError(Exception):
    """Check refused the inputs."""

    def __init__(self, failures: Any) -> None:
        """Keep property and reason of each."""
        self.failures = [(each.property, each.reason) for each in failures]
        super().__init__(str(self.failures))


class Engine:
    """One engine with one provider."""

    def __init__(self, endpoint: str, region: str) -> None:
        """Start a plugin and attach."""
        self.log: list[str] = []
        self.server = PluginServer(endpoint=endpoint, say=self.log.append)
        self.server.start()
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.server.port}")
        self.stub = provider_pb2_grpc.ResourceProviderStub(self.channel)
        self.stub.Handshake(provider_pb2.ProviderHandshakeRequest(engine_address="127.0.0.1:1"))
        arguments = wire.write({"region": region})
        checked = self.stub.CheckConfig(provider_pb2.CheckRequest(urn="urn:x", news=arguments))
        assert not checked.failures
        self.stub.Configure(provider_pb2.ConfigureRequest(args=arguments, acceptSecrets=True, acceptResources=True))

    def close(self) -> None:
        """End both sides."""
        self.channel.close()
        self.server.stop()

    def check(self, kept: Kept, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Check inputs; raise what is refused."""
        answer = self.stub.Check(
            provider_pb2.CheckRequest(
                urn=kept.urn, olds=wire.write(kept.inputs), news=wire.write(inputs), randomSeed=b"seed"
            )
        )
        if answer.failures:
            raise RefusedError(answer.failures)
        return wire.read(answer.inputs)

    def create(self, token: str, name: str, inputs: Mapping[str, Any]) -> Kept:
        """Check and create, with a preview before it, as `up` does."""
        kept = Kept(type=token, name=name, id="", inputs={}, outputs={})
        kept.inputs = self.check(kept, inputs)
        planned = provider_pb2.CreateRequest(urn=kept.urn, properties=wire.write(kept.inputs), preview=True)
        assert self.stub.Create(planned).id == ""
        answer = self.stub.Create(provider_pb2.CreateRequest(urn=kept.urn, properties=wire.write(kept.inputs)))
        kept.id, kept.outputs = answer.id, wire.read(answer.properties)
        return kept

    def diff(self, kept: Kept, inputs: Mapping[str, Any]) -> Any:
        """Check and compare."""
        news = self.check(kept, inputs)
        return self.stub.Diff(
            provider_pb2.DiffRequest(
                id=kept.id,
                urn=kept.urn,
                olds=wire.write(kept.outputs),
                old_inputs=wire.write(kept.inputs),
                news=wire.write(news),
            )
        )

    def update(self, kept: Kept, inputs: Mapping[str, Any]) -> None:
        """Check and update."""
        news = self.check(kept, inputs)
        answer = self.stub.Update(
            provider_pb2.UpdateRequest(
                id=kept.id,
                urn=kept.urn,
                olds=wire.write(kept.outputs),
                old_inputs=wire.write(kept.inputs),
                news=wire.write(news),
            )
        )
        kept.inputs, kept.outputs = news, wire.read(answer.properties)

    def read(self, kept: Kept) -> Any:
        """Read as `refresh` does."""
        return self.stub.Read(
            provider_pb2.ReadRequest(
                id=kept.id, urn=kept.urn, properties=wire.write(kept.outputs), inputs=wire.write(kept.inputs)
            )
        )

    def delete(self, kept: Kept) -> None:
        """Delete."""
        self.stub.Delete(
            provider_pb2.DeleteRequest(
                id=kept.id, urn=kept.urn, properties=wire.write(kept.outputs), old_inputs=wire.write(kept.inputs)
            )
        )
