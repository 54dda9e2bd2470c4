"""The gRPC service that the engine talks to: each request is answered from the tables, the SDK and the endpoint."""
# ruff: noqa: ARG002, N802 (names and arguments are the protocol's)

import importlib.metadata
from collections.abc import Callable
from typing import Any, TypeVar

import grpc
import pulumi_aws
from google.protobuf import any_pb2, empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from gpuprov.lab.aws.plugin import check, compare, invoke, rules, schema, state, wire
from gpuprov.lab.aws.plugin.cloud import Call, Cloud
from gpuprov.lab.aws.plugin.errors import AwsError, ProviderError, as_provider_says
from gpuprov.lab.aws.plugin.handlers import HANDLERS

_T = TypeVar("_T")
_SECONDS = 600.0
"""How long to wait for a state where the engine says nothing; ten minutes is the real provider's for an instance."""
_SUPPORTED_CONFIGURATION = frozenset(
    {
        "region",
        "skipCredentialsValidation",
        "skipMetadataApiCheck",
        "skipRegionValidation",
        "version",
        "pluginDownloadURL",
    }
)
_KINDS = {
    (compare.Kind.ADD, False): "ADD",
    (compare.Kind.ADD, True): "ADD_REPLACE",
    (compare.Kind.DELETE, False): "DELETE",
    (compare.Kind.DELETE, True): "DELETE_REPLACE",
    (compare.Kind.UPDATE, False): "UPDATE",
    (compare.Kind.UPDATE, True): "UPDATE_REPLACE",
}


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """The lab's AWS provider. Method names are the protocol's."""

    def __init__(self, cloud: Cloud, say: Callable[[str], None]) -> None:
        """Answer from one endpoint.

        Args:
            cloud: the endpoint.
            say: takes a line for each resource that was made, changed or removed, and for each error.
        """
        self._cloud = cloud
        self._say = say
        self._region = cloud.default_region

    # -- the provider itself -----------------------------------------------------------------------------------------

    def Handshake(self, request: Any, context: Any) -> Any:
        """Say what this plugin understands."""
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=False)

    def Attach(self, request: Any, context: Any) -> Any:
        """Accept an engine that attaches to the running plugin."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """Give the version of the SDK that inputs are compared with."""
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi_aws"))

    def Cancel(self, request: Any, context: Any) -> Any:
        """Let what is in flight end, as the real provider does for calls that AWS has accepted."""
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """Compare the provider's configuration with the SDK's class; refuse what this plugin would ignore."""
        news = wire.plain(wire.read(request.news))
        given = {name: value for name, value in news.items() if name not in {"version", "pluginDownloadURL"}}
        refused = list(schema.check_names(pulumi_aws.ProviderArgs, given))
        refused += [
            schema.Refused(property=name, reason="is not implemented by the lab's AWS plugin")
            for name in sorted(given.keys() - _SUPPORTED_CONFIGURATION)
        ]
        if not (news.get("region") or self._cloud.default_region):
            refused.append(schema.Refused(property="region", reason="is required: set aws:region or AWS_REGION"))
        return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(refused))

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Report changed configuration; a changed region replaces resources through their own `region`."""
        olds, news = (wire.plain(wire.read(side)) for side in (request.old_inputs or request.olds, request.news))
        diffs = sorted(name for name in olds.keys() | news.keys() if olds.get(name) != news.get(name))
        kind = "DIFF_SOME" if diffs else "DIFF_NONE"
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DiffChanges.Value(kind), diffs=diffs)

    def Configure(self, request: Any, context: Any) -> Any:
        """Take the region."""
        self._region = wire.plain(wire.read(request.args)).get("region") or self._cloud.default_region
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=False, supportsPreview=True
        )

    def Invoke(self, request: Any, context: Any) -> Any:
        """Answer the few functions that a program may need; refuse the others."""
        arguments = wire.plain(wire.read(request.args))
        call = Call(self._cloud, region=arguments.pop("region", None) or self._region, seconds=_SECONDS)
        found, refused = self._guard(
            context, f"invoking {request.tok}", lambda: invoke.invoke(call, request.tok, arguments)
        )
        return provider_pb2.InvokeResponse(failures=_failures(refused), **{"return": wire.write(found)})

    # -- resources ---------------------------------------------------------------------------------------------------

    def Check(self, request: Any, context: Any) -> Any:
        """Validate and complete inputs."""
        inputs, refused = check.check(
            _token(request.urn),
            wire.read(request.news),
            olds=wire.read(request.olds),
            logical=request.urn.rpartition("::")[2],
            seed=request.randomSeed,
            region=self._region,
        )
        return provider_pb2.CheckResponse(inputs=wire.write(inputs), failures=_failures(refused))

    def Diff(self, request: Any, context: Any) -> Any:
        """Compare inputs of the state with checked inputs of the program."""
        token, news = _token(request.urn), wire.read(request.news)
        found = compare.changes(token, wire.plain(wire.read(request.old_inputs)), wire.plain(news))
        replaces = sorted({change.property for change in found if change.replaces})
        detailed = {
            change.path: provider_pb2.PropertyDiff(
                kind=provider_pb2.PropertyDiff.Kind.Value(_KINDS[change.kind, change.replaces]), inputDiff=True
            )
            for change in found
        }
        kind = "DIFF_SOME" if found else "DIFF_NONE"
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DiffChanges.Value(kind),
            diffs=sorted({change.property for change in found}),
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and compare.needs_deletion_first(token, news),
            detailedDiff=detailed,
            hasDetailedDiff=True,
        )

    def Create(self, request: Any, context: Any) -> Any:
        """Make a resource; what exists but failed is handed over with its id, so that nothing is lost."""
        token, checked = _token(request.urn), wire.read(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(id="", properties=wire.write(state.preview(token, checked)))
        inputs, handler = wire.plain(checked), HANDLERS[token]
        call = self._call(inputs, request)
        doing = f"creating {handler.noun}"
        try:
            rules.raise_refused_by_aws(token, inputs)
            handler.create(call, inputs)
            properties = self._read(call, token, str(call.made), inputs) or {}
        except (AwsError, ProviderError) as error:
            why = as_provider_says(doing, error)
            self._say(f"error: {request.urn}: {doing}: {error}")
            if call.made is None:
                context.abort(grpc.StatusCode.UNKNOWN, why)
            self._failed(context, call, token, checked, why)
        self._say(f"created {call.made}: {request.urn}")
        return provider_pb2.CreateResponse(
            id=str(call.made), properties=wire.write(wire.keep_secrets(properties, checked))
        )

    def Read(self, request: Any, context: Any) -> Any:
        """Read a resource as it is now; an empty id says that it is gone."""
        token, known = _token(request.urn), wire.read(request.inputs)
        plain = {**wire.plain(wire.read(request.properties)), **wire.plain(known)}
        call = self._call(plain, request)
        doing = f"reading {HANDLERS[token].noun} ({request.id})"
        found = self._guard(context, doing, lambda: self._read(call, token, request.id, plain))
        if found is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=request.id,
            properties=wire.write(wire.keep_secrets(found, known)),
            inputs=wire.write(state.inputs(token, found, known)),
        )

    def Update(self, request: Any, context: Any) -> Any:
        """Change a resource in place."""
        token, checked = _token(request.urn), wire.read(request.news)
        known = wire.read(request.olds)
        if request.preview:
            changed = {name: value for name, value in checked.items() if name != wire.DEFAULTS}
            return provider_pb2.UpdateResponse(properties=wire.write({**known, **changed}))
        olds, news, handler = wire.plain(wire.read(request.old_inputs)), wire.plain(checked), HANDLERS[token]
        call = self._call(news, request)

        def act() -> wire.Values | None:
            rules.raise_refused_by_aws(token, news)
            handler.update(call, request.id, olds, news)
            return self._read(call, token, request.id, {**wire.plain(known), **news})

        found = self._guard(context, f"updating {handler.noun} ({request.id})", act)
        self._say(f"updated {request.id}: {request.urn}")
        return provider_pb2.UpdateResponse(properties=wire.write(wire.keep_secrets(found or {}, checked)))

    def Delete(self, request: Any, context: Any) -> Any:
        """Remove a resource; that it is gone already is no error."""
        token = _token(request.urn)
        known = {**wire.plain(wire.read(request.properties)), **wire.plain(wire.read(request.old_inputs))}
        call = self._call(known, request)
        doing = f"deleting {HANDLERS[token].noun} ({request.id})"
        self._guard(context, doing, lambda: HANDLERS[token].delete(call, request.id, known))
        self._say(f"deleted {request.id}: {request.urn}")
        return empty_pb2.Empty()

    # -- parts -------------------------------------------------------------------------------------------------------

    def _call(self, values: wire.Values, request: Any) -> Call:
        """Begin the calls of one request, in the resource's own region."""
        region = values.get("region") or self._region
        return Call(self._cloud, region=region, seconds=request.timeout or _SECONDS)

    @staticmethod
    def _read(call: Call, token: str, identity: str, known: wire.Values) -> wire.Values | None:
        """Read outputs; None when the resource is gone."""
        found = HANDLERS[token].read(call, identity, known)
        return None if found is None else {"id": identity, **state.outputs(token, found, known)}

    def _guard(self, context: Any, doing: str, act: Callable[[], _T]) -> _T:
        """Act; an error ends the request in the real provider's words."""
        try:
            return act()
        except (AwsError, ProviderError) as error:
            self._say(f"error: {doing}: {error}")
            context.abort(grpc.StatusCode.UNKNOWN, as_provider_says(doing, error))
            raise  # abort has raised already; this is for the reader

    def _failed(self, context: Any, call: Call, token: str, checked: wire.Values, why: str) -> None:
        """End a Create whose resource exists but did not come up: the engine keeps it, with its id and the reason."""
        identity = str(call.made)
        try:
            found = self._read(call, token, identity, wire.plain(checked)) or wire.plain(checked)
        except (AwsError, ProviderError):
            found = wire.plain(checked)  # it cannot even be read: the id is what must not be lost
        detail = provider_pb2.ErrorResourceInitFailed(
            id=identity,
            properties=wire.write(wire.keep_secrets(found, checked)),
            inputs=wire.write(checked),
            reasons=[why],
        )
        packed = any_pb2.Any()
        packed.Pack(detail)
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=why, details=[packed])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, why)


def _token(urn: str) -> str:
    """Return a resource's type: the last part of the types in its URN."""
    return urn.split("::")[2].rpartition("$")[2]


def _failures(refused: Any) -> list[Any]:
    """Return refusals as the protocol's failures."""
    return [provider_pb2.CheckFailure(property=each.property, reason=each.reason) for each in refused]
