"""What `apt-get -s` prints, read into steps: recorded outputs are in that form, and apt is asked both ways."""

import re

from ansible.module_utils.gpuprov_apt import Step

_INST = re.compile(
    r"^Inst (?P<name>[^ :]+)(?::(?P<arch>\S+))? (?:\[(?P<old>[^\]]+)\] )?\((?P<new>\S+) (?P<rest>[^)]*)\)"
)
_REMV = re.compile(r"^(?:Remv|Purg) (?P<name>[^ :]+)(?::(?P<arch>\S+))? \[(?P<old>[^\]]+)\]")


def read_simulation(text: str, native: str) -> tuple[Step, ...]:
    """Read `apt-get -s`: one step per package, in apt's order."""
    steps: dict[str, Step] = {}
    for line in text.splitlines():
        found = _INST.match(line) or _REMV.match(line)
        if found is None:
            continue
        arch = found["arch"]
        name = found["name"] if arch in {None, native, "all"} else f"{found['name']}:{arch}"
        after = found["new"] if line.startswith("Inst ") else None
        earlier = steps.get(name)
        # apt may remove and install one package in one transaction; what counts is where it starts and ends.
        before = earlier.before if earlier else found["old"]
        steps[name] = Step(name=name, before=before, after=after or (earlier.after if earlier else None))
    return tuple(steps.values())
