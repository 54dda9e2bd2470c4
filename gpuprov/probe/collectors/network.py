"""Network: interfaces, and the packet filter's input."""

import re

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, ended, failure, fixed, lines_of_files, needs_root, unknown

INTERFACE_GIVES = ("interface[*].mtu", "interface[*].state", "interface[*].speed", "interface[*].driver")

# The speed of an interface that is down cannot be read (EINVAL); that is no failure. Bridges and the host's ends of
# containers' links come and go: only interfaces with a device count.
_INTERFACES = r"""
cd /sys/class/net || exit 1
f=
for i in *; do
  [ -e "$i/device" ] || continue
  p=/sys/class/net/$i
  f="$f $p/mtu $p/operstate $p/speed $p/device/uevent"
done
[ -z "$f" ] || grep -s -H '' $f
echo end
"""


def parse_interfaces(output: CollectorOutput, recording: Recording) -> Found:
    """One member for each interface of a device; speed in Mbit/s."""
    if not ended(output):
        return unknown(INTERFACE_GIVES, failure(output, recording, "looking at /sys/class/net").reason)
    files = lines_of_files(output.stdout)
    found: Found = {"interface[*]": Absent()}
    for name in sorted({path.split("/")[4] for path in files if path.startswith("/sys/class/net/")}):
        place = f"/sys/class/net/{name}"
        driver = [line[7:] for line in files.get(f"{place}/device/uevent", []) if line.startswith("DRIVER=")]
        leaves: dict[str, Observation] = {
            "mtu": _mtu(files.get(f"{place}/mtu", [])),
            "state": _state(files.get(f"{place}/operstate", [])),
            "speed": _speed(files.get(f"{place}/speed", [])),
            "driver": Known(driver[0]) if driver else Absent(),
        }
        found |= {member_address("interface", name, leaf): value for leaf, value in leaves.items()}
    return found


def _mtu(lines: list[str]) -> Observation:
    text = lines[0] if lines else ""
    return Known(int(text)) if re.fullmatch(r"\d{1,9}", text) else Unknown("/sys tells no MTU")


def _state(lines: list[str]) -> Observation:
    word = lines[0] if lines else ""
    return Known(word) if re.fullmatch(r"[a-z]+", word) else Unknown("/sys tells no state")


def _speed(lines: list[str]) -> Observation:
    """Absent where the driver has none to tell: virtual links say -1, links that are down nothing."""
    if not lines or lines[0] == "-1":
        return Absent()
    return Known(int(lines[0])) if re.fullmatch(r"\d{1,9}", lines[0]) else Unknown("the speed has an unknown form")


# Docker's and Kubernetes' own chains hang in forward and nat: what reaches the host itself goes through input. Asking
# would load the packet filter into a kernel that has none; so the kernel's modules are looked at first.
_FIREWALL = r"""
[ ! -e /etc/ufw/ufw.conf ] || grep -H -E '^ENABLED=' /etc/ufw/ufw.conf
here() {
  [ ! -e /proc/modules ] || [ -d "/sys/module/$1" ] || grep -q -s "/$1.ko" "/lib/modules/$(uname -r)/modules.builtin"
}
old=; [ ! -e /proc/net/ip_tables_names ] || old=$(cat /proc/net/ip_tables_names /proc/net/ip6_tables_names 2>/dev/null)
if ! here nf_tables && [ -z "$old" ]; then echo 'idle '
elif command -v nft >/dev/null 2>&1 && here nf_tables && [ -z "$old" ]; then
  t=$(nft -s list ruleset) || exit 1
  echo 'nft '; printf '%s\n' "$t" | sed -n '/^[[:space:]]*chain /,/^[[:space:]]*}/p'
elif command -v iptables-save >/dev/null 2>&1; then
  t=$(iptables-save && { ! command -v ip6tables-save >/dev/null 2>&1 || ip6tables-save; }) || exit 1
  echo 'iptables '; printf '%s\n' "$t" | sed -n '/^\*filter/,/^COMMIT/p'
else echo 'none '; fi
echo end
"""
FIREWALL_GIVES = ("host.firewall.manager", "host.firewall.input", "host.firewall.rules")


def parse_firewall(output: CollectorOutput, recording: Recording) -> Found:
    """input: `drop` where a chain on the way in drops what no rule lets through, else `accept`; rules: all of these."""
    text = output.stdout
    ufw = re.search(r"^/etc/ufw/ufw\.conf:ENABLED=(.*)$", text, re.MULTILINE)
    manager: Observation = Known("ufw") if ufw and ufw[1].strip("\"' ").lower() == "yes" else Absent()
    found: Found = {"host.firewall.manager": manager}
    if not ended(output):
        denied = re.search("[Pp]ermission denied|not permitted", output.stderr) is not None
        reason = (
            needs_root("the packet filter cannot be read", recording)
            if denied
            else failure(output, recording, "reading the packet filter")
        )
        return found | {"host.firewall.input": reason, "host.firewall.rules": reason}
    if "\nidle \n" in f"\n{text}":
        return found | {"host.firewall.input": Known("accept"), "host.firewall.rules": Known([])}
    if "\nnone \n" in f"\n{text}":
        reason = Unknown("the host has neither nft nor iptables to ask with")
        return found | {"host.firewall.input": reason, "host.firewall.rules": reason}
    policies, rules = _nft(text) if "\nnft \n" in f"\n{text}" else _iptables(text)
    return found | {
        "host.firewall.input": Known("drop" if "drop" in policies else "accept"),
        "host.firewall.rules": Known([*rules]),
    }


def _nft(text: str) -> tuple[set[str], list[str]]:
    policies: set[str] = set()
    rules: list[str] = []
    chain: list[str] = []
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith("chain "):
            chain = [line]
        elif line == "}" and chain:
            head = next((rule for rule in chain if rule.startswith("type filter hook input ")), "")
            if head:
                policies |= set(re.findall(r"policy (\w+);", head))
                rules += [rule for rule in chain[1:] if rule != head]
            chain = []
        elif chain and line:
            chain.append(line)
    return policies, rules


def _iptables(text: str) -> tuple[set[str], list[str]]:
    lines = text.split("\n")
    policies = {line.split()[1].lower() for line in lines if re.match(r":INPUT \S+", line)}
    return policies, [line.removeprefix("-A INPUT ") for line in lines if line.startswith("-A INPUT ")]


COLLECTORS = (
    Collector(name="interfaces", command=fixed(_INTERFACES), gives=INTERFACE_GIVES, parse=parse_interfaces, limit=15),
    Collector(name="firewall", command=fixed(_FIREWALL), gives=FIREWALL_GIVES, parse=parse_firewall, limit=15),
)
