"""A resource plugin for tests of the engine's runner: it takes every aws type, and its cloud is a folder.

`python engine_plugin.py FOLDER` prints its port. Each resource is a file `FOLDER/ID.json` with type, inputs and tags.
What it shall do is read from `FOLDER/.orders.json` at each call, all optional:
  slow: {type token: seconds}      a create takes so long; the resource exists from its middle on
  slow_delete: {type token: seconds}  a delete takes so long, and then the resource goes
  fail: {type token: text}         a create fails with that text, before anything was made
  lose: [type token]               a create makes the resource, and then the whole plugin dies
  replace: [property]              a change of it replaces the resource
"""
# ruff: noqa: ANN001, ANN201, N802 (gRPC's own form)

import json
import os
import secrets
import sys
import time
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

_IDS = {"aws:ec2/instance:Instance": "i-", "aws:ebs/volume:Volume": "vol-", "aws:ec2/vpc:Vpc": "vpc-"}


class Folder:
    """The cloud: one file a resource."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def orders(self) -> dict[str, Any]:
        try:
            return json.loads((self.path / ".orders.json").read_text())
        except FileNotFoundError:
            return {}

    def write(self, name: str, value: dict[str, Any]) -> None:
        beside = self.path / f".{name}.tmp"
        beside.write_text(json.dumps(value))
        beside.rename(self.path / f"{name}.json")

    def read(self, name: str) -> dict[str, Any] | None:
        try:
            return json.loads((self.path / f"{name}.json").read_text())
        except FileNotFoundError:
            return None

    def delete(self, name: str) -> None:
        (self.path / f"{name}.json").unlink(missing_ok=True)


def resources(path: Path) -> dict[str, dict[str, Any]]:
    """Everything in the cloud, by id."""
    return {file.stem: json.loads(file.read_text()) for file in sorted(path.glob("[!.]*.json"))}


def find(path: Path, type_token: str, key: str) -> str | None:
    """What `Account.find` does: the id of the resource with that tag gpuprov:id; it must be one."""
    ids = [
        name
        for name, row in resources(path).items()
        if row["type"] == type_token and (row["inputs"].get("tags") or {}).get("gpuprov:id") == key
    ]
    assert len(ids) < 2, ids
    return ids[0] if ids else None


class Plugin(provider_pb2_grpc.ResourceProviderServicer):
    """The service of pulumi.runtime.proto, as far as the engine asks."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="7.51.1")

    def Attach(self, request, context):
        return empty_pb2.Empty()

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=False, supportsPreview=True
        )

    def Check(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request, context):
        old, new = _plain(request.old_inputs), _plain(request.news)
        kept = set(request.ignoreChanges)
        names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name) and name not in kept]
        replacing = [name for name in names if name in self.folder.orders().get("replace", [])]
        kinds = provider_pb2.PropertyDiff
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if names else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=names,
            replaces=replacing,
            detailedDiff={
                name: kinds(kind=kinds.UPDATE_REPLACE if name in replacing else kinds.UPDATE, inputDiff=True)
                for name in names
            },
            hasDetailedDiff=True,
        )

    def Create(self, request, context):
        kind = request.urn.split("::")[2].split("$")[-1]
        inputs = _plain(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(id="", properties=request.properties)
        orders = self.folder.orders()
        if kind in orders.get("fail", {}):
            context.abort(grpc.StatusCode.UNKNOWN, orders["fail"][kind])
        seconds = float(orders.get("slow", {}).get(kind, 0))
        self._mark("creating", request.urn)
        time.sleep(seconds / 2)
        name = str(inputs.get("bucket") or inputs.get("name") or "")
        name = name.replace("/", "_") if name else _IDS.get(kind, "res-") + secrets.token_hex(8)
        self.folder.write(name, {"type": kind, "urn": request.urn, "inputs": inputs})
        if kind in orders.get("lose", []):
            os._exit(1)
        time.sleep(seconds / 2)
        return provider_pb2.CreateResponse(id=name, properties=_struct(_outputs(name, inputs)))

    def Read(self, request, context):
        row = self.folder.read(request.id)
        if row is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=request.id, inputs=_struct(row["inputs"]), properties=_struct(_outputs(request.id, row["inputs"]))
        )

    def Update(self, request, context):
        inputs = _plain(request.news)
        if not request.preview:
            row = self.folder.read(request.id) or {}
            self.folder.write(request.id, {**row, "inputs": inputs})
        return provider_pb2.UpdateResponse(properties=_struct(_outputs(request.id, inputs)))

    def Delete(self, request, context):
        kind = request.urn.split("::")[2].split("$")[-1]
        self._mark("deleting", request.urn)
        time.sleep(float(self.folder.orders().get("slow_delete", {}).get(kind, 0)))
        self.folder.delete(request.id)
        return empty_pb2.Empty()

    def _mark(self, verb, urn) -> None:
        """Say that something is begun, for a test that waits for it."""
        (self.folder.path / f".{verb}-{urn.split('::')[-1].replace('/', '_')}").touch()

    def Cancel(self, request, context):
        return empty_pb2.Empty()


def _outputs(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        **inputs,
        "arn": f"arn:aws:x:::{name}",
        "privateIp": "10.0.0.5",
        "publicIp": "198.18.0.5",
        "availabilityZone": inputs.get("availabilityZone", "us-east-1a"),
    }


def _plain(value: struct_pb2.Struct) -> dict[str, Any]:
    return _bare(json_format.MessageToDict(value))


def _bare(value: Any) -> Any:
    """A value without the wrapping of secrets."""
    if isinstance(value, dict):
        if "4dabf18193072939515e22adb298388d" in value:
            return _bare(value["value"])
        return {key: _bare(inner) for key, inner in value.items()}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


def _struct(value: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(value, struct_pb2.Struct())


def main(folder: str) -> None:
    """Serve until killed."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Plugin(Folder(Path(folder))), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201
    server.wait_for_termination()


if __name__ == "__main__":
    main(sys.argv[1])
