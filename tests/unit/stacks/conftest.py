"""The stack program as Pulumi loads it: its folder on the path; what it registers is caught by Pulumi's mocks."""

import importlib
import runpy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import pytest
from aws_modules import load_modules
from google.protobuf.json_format import MessageToDict
from pulumi.runtime import mocks

STACK = Path(__file__).resolve().parents[3] / "stacks" / "aws"
MODULES = (
    *("program", "network", "ways", "placement", "identity", "storage", "shares", "imports", "fleet", "market"),
    "document",
)


@dataclass(frozen=True)
class Registered:
    """One resource, as the program asked the engine for it."""

    name: str
    type: str
    urn: str
    inputs: dict[str, Any]
    ignored: tuple[str, ...]
    """Properties that are ignored on update."""
    another: tuple[str, ...]
    """Properties whose change makes another resource, although the provider could change them in place."""
    after: tuple[str, ...]
    """Names of the resources that must be there first."""
    first_away: bool
    """Whether the old one goes before the new one comes."""
    protected: bool


@dataclass
class Outcome:
    """What a run of the program did."""

    resources: dict[str, Registered] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


class _Cloud(mocks.Mocks):
    """Gives every resource an id that names it, and an instance its addresses."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        made: dict[str, Any] = {}
        if args.typ == "aws:ec2/instance:Instance":
            made = {"privateIp": "10.20.0.5", "publicIp": "198.51.100.5"}
        return f"id:{args.name}", dict(args.inputs) | made

    def call(self, args: mocks.MockCallArgs) -> dict[str, Any]:
        raise AssertionError(f"the program asks the cloud while it decides nothing: {args.token}")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], Outcome]]:
    """Run the program on a document; give what it registered and exported."""
    load_modules()
    monkeypatch.syspath_prepend(str(STACK))
    runs = [Outcome()]
    register = mocks.MockMonitor.RegisterResource

    def caught(self: mocks.MockMonitor, request: Any) -> Any:
        answer = register(self, request)
        if request.type == "pulumi:pulumi:Stack":
            return answer
        runs[-1].resources[request.name] = Registered(
            name=request.name,
            type=request.type,
            # The mocks write the stack itself as a parent, which the engine does not.
            urn=answer.urn.replace("::pulumi:pulumi:Stack$", "::"),
            inputs=MessageToDict(request.object),
            ignored=tuple(request.ignoreChanges),
            another=tuple(request.replaceOnChanges),
            after=tuple(sorted(urn.rpartition("::")[2] for urn in request.dependencies)),
            first_away=request.deleteBeforeReplace,
            protected=request.protect,
        )
        return answer

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", caught)
    monkeypatch.setattr(pulumi, "export", lambda name, value: runs[-1].outputs.update({name: value}))

    def run_program(document: Any) -> Outcome:
        """Run the whole project when the document is a path, else the program alone."""
        outcome = Outcome()
        runs.append(outcome)
        mocks.set_mocks(_Cloud(), project="gpuprov-aws", stack="train")
        exported: list[Any] = []

        @pulumi.runtime.test
        def whole() -> Any:
            if isinstance(document, Path | None):
                runpy.run_path(str(STACK / "__main__.py"), run_name="__main__")
            else:
                importlib.import_module("program").program(document)
            return pulumi.Output.all(**outcome.outputs).apply(exported.append)

        whole()
        outcome.outputs = exported[0]
        return outcome

    yield run_program
    for name in MODULES:
        sys.modules.pop(name, None)
