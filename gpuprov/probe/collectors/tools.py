"""Parts of the stack that tell their own version: container toolkit, Fabric Manager, IMEX, DCGM."""

import re
from collections.abc import Callable

from gpuprov.model.fact import Absent, Known
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, is_missing, need, odd

_VERSION = r"(\d+(?:\.\d+)+(?:[-+~][A-Za-z0-9.+~-]+)?)"


def _version_of(address: str, program: str, pattern: str) -> Callable[[CollectorOutput, Recording], Found]:
    def parse(output: CollectorOutput, recording: Recording) -> Found:
        if is_missing(output):
            return {address: Absent()}
        found = re.search(pattern, output.stdout + "\n" + output.stderr)
        if found is not None:
            return {address: Known(found[1])}
        if output.status != 0:
            return {address: failure(output, recording, program)}
        return {address: odd(output, f"the answer of {program}")}

    return parse


def _teller(name: str, address: str, program: str, option: str, pattern: str) -> Collector:
    return Collector(
        name=name,
        command=fixed(f"{need(program)}{program} {option}"),
        gives=(address,),
        parse=_version_of(address, program, pattern),
    )


COLLECTORS = (
    _teller(
        "toolkit",
        "stack.container.toolkit",
        "nvidia-ctk",
        "--version",
        rf"NVIDIA Container Toolkit CLI version {_VERSION}",
    ),
    _teller(
        "toolkit_library",
        "stack.container.toolkit_library",
        "nvidia-container-cli",
        "--version",
        rf"lib-version: {_VERSION}",
    ),
    _teller(
        "fabric", "stack.fabric.version", "nv-fabricmanager", "--version", rf"Fabric Manager version is\s*: {_VERSION}"
    ),
    _teller("imex", "stack.imex.version", "nvidia-imex", "--version", rf"IMEX version is\s*: {_VERSION}"),
    _teller("dcgm", "stack.dcgm.version", "dcgmi", "--version", rf"dcgmi\s+version: {_VERSION}"),
    _teller(
        "dcgm_exporter", "stack.dcgm.exporter", "dcgm-exporter", "--version", rf"DCGM Exporter version v?{_VERSION}"
    ),
)
