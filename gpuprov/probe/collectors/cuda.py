"""CUDA on the host: toolkits, the one that builds take, and the libraries beside them."""

import json
import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed

GIVES = (
    "stack.cuda.toolkits",
    "stack.cuda.paths",
    "stack.cuda.default",
    "stack.cuda.selection",
    "stack.cuda.nvcc",
    "stack.cuda.compat",
)
LIBRARIES = ("stack.cuda.cudnn", "stack.cuda.nccl")

# `pwd -P` tells one toolkit from its links (/usr/local/cuda, /usr/local/cuda-13). A folder with neither version file
# nor nvcc holds only libraries and is no toolkit.
_COMMAND = r"""
seen=' '
for d in /usr/local/cuda /usr/local/cuda-*; do
  p=$(cd "$d" 2>/dev/null && pwd -P) || continue
  [ "$d" = /usr/local/cuda ] && printf 'default %s\n' "$p"
  case $seen in *" $p "*) continue ;; esac
  seen="$seen$p "
  if [ -e "$p/version.json" ]; then printf 'json %s\n' "$p"; cat "$p/version.json"; echo
  elif [ -x "$p/bin/nvcc" ]; then printf 'nvcc %s\n' "$p"; "$p/bin/nvcc" --version; fi
  for l in "$p"/compat/libcuda.so.*.*; do [ -e "$l" ] && printf 'compat %s\n' "$l"; done
done
n=
for p in $(grep -h -s -o -E '/[^:"$ =]*cuda[^:"$ ]*/bin' /etc/environment /etc/profile.d/*.sh); do
  [ -z "$n" ] && [ -x "$p/nvcc" ] && n=$p/nvcc
done
if [ -n "$n" ] || n=$(command -v nvcc); then
  r=$(readlink -f "$n"); printf 'winner %s\n' "$r"
  case $r in /usr/local/cuda*) ;; *) printf 'nvcc %s\n' "$r"; "$n" --version ;; esac
fi
c=/var/lib/dpkg/alternatives/cuda
[ ! -e "$c" ] || { read -r a <"$c"; printf 'selection %s\n' "$a"; }
echo 'end '
"""

# Names only; the version is part of a library's own file name, so that no library need be loaded.
_LIBRARIES = r"""
for l in /usr/lib/*/libcudnn.so.*.* /usr/lib/*/libnccl.so.*.* /usr/lib/libcudnn.so.*.* /usr/lib/libnccl.so.*.* \
  /usr/lib64/libcudnn.so.*.* /usr/lib64/libnccl.so.*.* /usr/local/lib/libcudnn.so.*.* /usr/local/lib/libnccl.so.*.* \
  /usr/local/cuda/lib64/libcudnn.so.*.* /usr/local/cuda/lib64/libnccl.so.*.* \
  /usr/local/cuda/targets/*/lib/libcudnn.so.*.* /usr/local/cuda/targets/*/lib/libnccl.so.*.*; do
  [ -e "$l" ] && [ ! -L "$l" ] && printf '%s\n' "${l##*/}"
done
echo end
"""
_PART = re.compile(r"^(json|nvcc|default|compat|winner|selection|end) (.*)\n", re.MULTILINE)
_RELEASE = re.compile(r"release ([0-9]{1,6}(?:\.[0-9]{1,6})+), V")
_NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})+")
_LIBRARY = re.compile(r"lib(cudnn|nccl)\.so\.([0-9]{1,6}(?:\.[0-9]{1,6})+)")


def parse_cuda(output: CollectorOutput, recording: Recording) -> Found:
    """Toolkits by path, the default (/usr/local/cuda), PATH's nvcc, and libraries of forward compatibility.

    Versions are full ones from version.json (since CUDA 11.1), or the release that nvcc tells. PATH is that of a login
    shell: what /etc/environment and /etc/profile.d add for CUDA comes first.
    """
    if output.status != 0 or not output.stdout.rstrip().endswith("end"):
        return dict.fromkeys(GIVES, failure(output, recording, "looking for CUDA toolkits"))
    parts = _PART.split(output.stdout)
    told = list(zip(parts[1::3], parts[2::3], parts[3::3], strict=False))
    paths: dict[str, Observation] = {
        path: _from_json(text, path) if kind == "json" else _from_nvcc(text, path)
        for kind, path, text in told
        if kind in {"json", "nvcc"}
    }
    names = {kind: path for kind, path, _ in told}
    compat = sorted({path.rpartition("libcuda.so.")[2] for kind, path, _ in told if kind == "compat"})
    return {
        "stack.cuda.toolkits": _versions(paths),
        "stack.cuda.paths": _paths(paths),
        "stack.cuda.default": _at(names.get("default"), paths),
        "stack.cuda.selection": _selection(names.get("selection")),
        "stack.cuda.nvcc": _at(_toolkit_of(names.get("winner")), paths),
        "stack.cuda.compat": Known([*compat]) if compat else Absent(),
    }


def _versions(paths: dict[str, Observation]) -> Observation:
    unknown = next((seen for seen in paths.values() if isinstance(seen, Unknown)), None)
    if unknown is not None:
        return unknown
    versions = {str(seen.value) for seen in paths.values() if isinstance(seen, Known)}
    ordered: list[Value] = [*sorted(versions, key=lambda v: [int(p) for p in v.split(".")])]
    return Known(ordered) if ordered else Absent()


def _paths(paths: dict[str, Observation]) -> Observation:
    told: dict[str, Value] = {path: seen.value for path, seen in sorted(paths.items()) if isinstance(seen, Known)}
    unknown = next((seen for seen in paths.values() if isinstance(seen, Unknown)), None)
    return unknown if unknown is not None else Known(told) if told else Absent()


def _at(path: str | None, paths: dict[str, Observation]) -> Observation:
    """The version at a path; a link to what is no toolkit is as good as none."""
    return Absent() if path is None else paths.get(path, Absent())


def _toolkit_of(nvcc: str | None) -> str | None:
    """The toolkit that an nvcc belongs to: its folder, or the program itself where a distribution has it in /usr."""
    if nvcc is None or not nvcc.startswith("/usr/local/cuda"):
        return nvcc
    return nvcc.removesuffix("/bin/nvcc")


def _selection(text: str | None) -> Observation:
    """Whether the alternatives of /usr/local/cuda choose by themselves or somebody chose (update-alternatives(1))."""
    if text is None:
        return Absent()
    return (
        Known(text) if text in {"auto", "manual"} else Unknown(f"the alternatives of cuda have an unknown form: {text}")
    )


def _from_json(text: str, path: str) -> Observation:
    try:
        data = json.loads(text)
        version = data["cuda"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version = None
    return Known(version) if isinstance(version, str) and _NUMBER.fullmatch(version) else _not_told(path)


def _from_nvcc(text: str, path: str) -> Observation:
    found = _RELEASE.search(text)
    return Known(found[1]) if found else _not_told(path)


def _not_told(path: str) -> Unknown:
    return Unknown(f"the toolkit in {path} does not tell its version in a known form")


def parse_libraries(output: CollectorOutput, recording: Recording) -> Found:
    """The versions of cuDNN and NCCL that programs find without a path of their own."""
    if not ended(output):
        return dict.fromkeys(LIBRARIES, failure(output, recording, "looking for CUDA libraries"))
    found: dict[str, set[str]] = {"cudnn": set(), "nccl": set()}
    for line in output.stdout.splitlines():
        if library := _LIBRARY.fullmatch(line):
            found[library[1]].add(library[2])
    return {address: _list(found[address.rpartition(".")[2]]) for address in LIBRARIES}


def _list(versions: set[str]) -> Observation:
    return Known([*sorted(versions, key=lambda v: [int(p) for p in v.split(".")])]) if versions else Absent()


COLLECTORS = (
    Collector(name="cuda", command=fixed(_COMMAND), gives=GIVES, parse=parse_cuda),
    Collector(name="cuda_libraries", command=fixed(_LIBRARIES), gives=LIBRARIES, parse=parse_libraries, limit=0),
)
