"""CDI: whether the description of the GPUs that containers get still fits the driver, and the links that runc needs."""

import re

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, first_line, fixed
from gpuprov.probe.collectors.module import parse_loaded

GIVES = ("stack.cdi.state", "stack.cdi.driver", "stack.cdi.missing", "stack.container.device_links")

# YAML and JSON alike: what is named with a path must be there. Of what is there, only libraries with a version travel.
_COMMAND = r"""
for f in /etc/cdi/*.yaml /etc/cdi/*.yml /etc/cdi/*.json /var/run/cdi/*.yaml /var/run/cdi/*.yml /var/run/cdi/*.json; do
  [ -e "$f" ] || continue
  [ -r "$f" ] || { echo "$f: Permission denied" >&2; exit 1; }
  printf 'spec %s\n' "$f"
  grep -o -E '"?(hostPath|path|kind)"?: *"?[^",[:space:]}]+' "$f" | sort -u | while read -r l; do
    p=${l##*[: \"]}
    case $l in
      *kind*) printf 'kind %s\n' "$p" ;;
      *) if [ ! -e "$p" ]; then printf 'lacks %s\n' "$p"
         else case $p in *.so.[0-9]*) printf 'has %s\n' "$p" ;; esac; fi ;;
    esac
  done
done
d=0; l=0
for n in /dev/nvidia[0-9]*; do [ -c "$n" ] && d=$((d+1)); done
for n in /dev/char/195:*; do [ -L "$n" ] && l=$((l+1)); done
echo "links $l of $d"
echo end
"""
_DRIVER = re.compile(r".*\.so\.(\d{3,}(?:\.\d+){1,2})")
"""A library of the driver carries its version; others have small numbers of their own (libnvidia-egl-wayland: A20)."""
_LINKS = re.compile(r"links (\d{1,6}) of (\d{1,6})")


def parse_cdi(output: CollectorOutput, recording: Recording) -> Found:
    """Current or stale (A20), the driver it was made for, what it names and is missing; /dev/char's links (A19)."""
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "reading CDI's files"))
    lines = output.stdout.splitlines()
    links = next((match for line in lines if (match := _LINKS.fullmatch(line))), None)
    parts = [part.splitlines() for part in ("\n" + output.stdout).split("\nspec ")[1:]]
    specs = [part for part in parts if any(line.startswith("kind nvidia.com/") for line in part)]
    found: Found = _specs(specs, recording) if specs else dict.fromkeys(GIVES[:3], Absent())
    return found | {"stack.container.device_links": _links(links)}


def _specs(specs: list[list[str]], recording: Recording) -> Found:
    named = [line for spec in specs for line in spec[1:] if line.startswith(("has ", "lacks "))]
    missing = sorted({line.removeprefix("lacks ") for line in named if line.startswith("lacks ")})
    drivers = sorted({found[1] for line in named if (found := _DRIVER.fullmatch(line))})
    loaded = recording.collectors.get("loaded")
    seen = parse_loaded(loaded, recording)["stack.driver.loaded"] if loaded is not None else Unknown("not looked at")
    return {
        "stack.cdi.state": _state(missing, drivers, seen),
        "stack.cdi.driver": Known(", ".join(drivers)) if drivers else Absent(),
        "stack.cdi.missing": Known([*missing]),
    }


def _state(missing: list[str], drivers: list[str], loaded: Observation) -> Observation:
    if missing or len(drivers) > 1:
        return Known("stale")
    if not drivers:
        return Known("current")  # It names devices alone, and they are there.
    if isinstance(loaded, Unknown):
        return Unknown(f"made for driver {drivers[0]}, and the loaded one is not known: {first_line(loaded.reason)}")
    # Without a loaded driver the files on disk are all that the description can fit.
    return Known("stale" if isinstance(loaded, Known) and loaded.value != drivers[0] else "current")


def _links(found: "re.Match[str] | None") -> Observation:
    """Whether each GPU's device has its link: without, systemd's reload takes GPUs from running containers."""
    if found is None:
        return Unknown("the collector cdi did not count the links")
    links, devices = int(found[1]), int(found[2])
    return Absent() if devices == 0 else Known(links >= devices)


COLLECTORS = (Collector(name="cdi", command=fixed(_COMMAND), gives=GIVES, parse=parse_cdi),)
