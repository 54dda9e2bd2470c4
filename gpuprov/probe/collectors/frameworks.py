"""The Python environment of gpuprov that is in use: its name, and the packages that lie in it."""

import re

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, odd, unknown

GIVES = ("stack.frameworks.environment", "framework[*].version")

# What pip, uv and importlib take for installed is a folder NAME-VERSION.dist-info (PEP 376).
_COMMAND = r"""
d=/opt/gpuprov/frameworks
if [ -L "$d/current" ]; then
  t=$(readlink "$d/current") || exit 1
  [ -d "$d/current/" ] || { echo "lost ${t##*/}"; echo end; exit 0; }
  printf 'environment %s\n' "${t##*/}"
  for p in "$d"/current/lib/python3*/site-packages/*.dist-info; do
    [ ! -d "$p" ] || printf 'package %s\n' "${p##*/}"
  done
elif [ -d "$d" ] && [ ! -x "$d" ]; then echo "$d: Permission denied" >&2; exit 1
fi
echo end
"""
_ENVIRONMENT = re.compile(r"environment (?P<name>[0-9a-f]+)(?:\.\d+)?")
_PACKAGE = re.compile(r"package (?P<name>[^-\s]+)-(?P<version>[^-\s]+)\.dist-info")


def parse_frameworks(output: CollectorOutput, recording: Recording) -> Found:
    """The environment's name, and each package's version by its normalised name (PEP 503)."""
    if not ended(output):
        return unknown(GIVES, failure(output, recording, "looking at the Python environment").reason)
    nothing: Found = {GIVES[0]: Absent(), "framework[*]": Absent()}
    lines = output.stdout.splitlines()[:-1]
    if not lines or lines[0].startswith("lost "):
        return nothing
    environment = _ENVIRONMENT.fullmatch(lines[0])
    packages = [_PACKAGE.fullmatch(line) for line in lines[1:]]
    if environment is None or None in packages:
        return unknown(GIVES, odd(output, "the Python environment").reason)
    found: dict[str, Observation] = {
        member_address("framework", _normalised(package["name"]), "version"): Known(package["version"])
        for package in packages
        if package is not None
    }
    return nothing | {GIVES[0]: Known(environment["name"])} | found


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


COLLECTORS = (Collector(name="frameworks", command=fixed(_COMMAND), gives=GIVES, parse=parse_frameworks),)
