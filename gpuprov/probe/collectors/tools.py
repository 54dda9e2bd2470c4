"""Parts of the stack that tell their own version: CUDA toolkits, container toolkit, Fabric Manager, DCGM."""

import json
import re
from collections.abc import Callable

from gpuprov.model.fact import Absent, Known, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, is_missing, need, odd

# `pwd -P` tells one toolkit from its links (/usr/local/cuda, /usr/local/cuda-13). A folder with neither version file
# nor nvcc holds only libraries and is no toolkit.
_CUDA = r"""
seen=' '
for d in /usr/local/cuda /usr/local/cuda-*; do
  p=$(cd "$d" 2>/dev/null && pwd -P) || continue
  case $seen in *" $p "*) continue ;; esac
  seen="$seen$p "
  if [ -e "$p/version.json" ]; then printf 'json %s\n' "$p"; cat "$p/version.json"; echo
  elif [ -x "$p/bin/nvcc" ]; then printf 'nvcc %s\n' "$p"; "$p/bin/nvcc" --version; fi
done
n=$(command -v nvcc) && case $(readlink -f "$n") in
  /usr/local/cuda*) ;;
  *) printf 'nvcc %s\n' "$n"; nvcc --version ;;
esac
echo 'end '
"""
_VERSION = r"(\d+(?:\.\d+)+(?:[-+~][A-Za-z0-9.+~-]+)?)"


def parse_cuda(output: CollectorOutput, recording: Recording) -> Found:
    """stack.cuda.toolkits: full versions from version.json (since CUDA 11.1), or the release that nvcc tells."""
    if output.status != 0 or not output.stdout.rstrip().endswith("end"):
        return {"stack.cuda.toolkits": failure(output, recording, "looking for CUDA toolkits")}
    parts = re.split(r"^(json|nvcc|end) (.*)\n", output.stdout, flags=re.MULTILINE)
    versions: list[str] = []
    for kind, path, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=False):
        if kind == "end":
            continue
        version = _from_json(text) if kind == "json" else _from_nvcc(text)
        if version is None:
            return {"stack.cuda.toolkits": Unknown(f"the toolkit in {path} does not tell its version in a known form")}
        versions.append(version)
    ordered: list[Value] = [*sorted(set(versions), key=lambda v: [int(p) for p in v.split(".")])]
    return {"stack.cuda.toolkits": Known(ordered) if ordered else Absent()}


def _from_json(text: str) -> str | None:
    try:
        data = json.loads(text)
        version = data["cuda"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return version if isinstance(version, str) and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})+", version) else None


def _from_nvcc(text: str) -> str | None:
    found = re.search(r"release ([0-9]{1,6}(?:\.[0-9]{1,6})+), V", text)
    return found[1] if found else None


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
    Collector(name="cuda", command=fixed(_CUDA), gives=("stack.cuda.toolkits",), parse=parse_cuda),
    _teller(
        "toolkit",
        "stack.container.toolkit",
        "nvidia-ctk",
        "--version",
        rf"NVIDIA Container Toolkit CLI version {_VERSION}",
    ),
    _teller(
        "fabric", "stack.fabric.version", "nv-fabricmanager", "--version", rf"Fabric Manager version is\s*: {_VERSION}"
    ),
    _teller("dcgm", "stack.dcgm.version", "dcgmi", "--version", rf"dcgmi\s+version: {_VERSION}"),
)
