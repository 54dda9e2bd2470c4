"""What gpuprov itself left on the host: the record of what it made, and its package transactions."""

import json
import re
from typing import Any

from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, odd

_OWNED = """\
s=$(stat -c %s /var/lib/gpuprov/owned.json 2>&1) || { printf '%s\\n' "$s" >&2; exit 2; }
cat /var/lib/gpuprov/owned.json || exit 1
if [ -e /var/lib/gpuprov/installed.json ]; then
  printf '\\nbrought '
  cat /var/lib/gpuprov/installed.json || exit 1
fi
if [ -e /var/lib/gpuprov/merged.json ]; then
  printf '\nmerged '
  cat /var/lib/gpuprov/merged.json || exit 1
fi
for n in access tuning; do
  if [ -e /var/lib/gpuprov/$n.json ]; then
    printf '\n%s ' $n
    cat /var/lib/gpuprov/$n.json || exit 1
  fi
done
[ ! -e /var/lib/gpuprov/initramfs-pending ] || printf '\npending initramfs\n'
if [ -d /var/lib/gpuprov/backups ]; then
  printf '\\nkept \\n'
  cd /var/lib/gpuprov/backups && find . -type f || exit 1
fi
"""
_PROVEN = """\
s=$(stat -c %s /var/lib/gpuprov/proven 2>&1) || { printf '%s\\n' "$s" >&2; exit 2; }
cat /var/lib/gpuprov/proven
"""
# `systemctl show` says success/0 for a unit that does not exist, so LoadState counts, and the result that the unit
# itself wrote. Every transaction has a folder before it has a unit: without folders systemd need not be asked.
# The module of a lost controller works on for a moment after its unit has ended (holds, the record): its turn tells.
_TRANSACTION = r"""
if [ -e /run/gpuprov-packages.lock ] && command -v flock >/dev/null 2>&1; then
  flock -s -n -E 75 /run/gpuprov-packages.lock true 2>/dev/null
  [ $? = 75 ] && printf 'turn taken

'
fi
d=/var/lib/gpuprov/transactions
if [ -d /var/lib/gpuprov ] && [ ! -x /var/lib/gpuprov ]; then echo '/var/lib/gpuprov: Permission denied' >&2; exit 1; fi
if [ -d "$d" ]; then
  systemctl show -p Id -p LoadState -p ActiveState -p SubState 'gpuprov-transaction-*.service' || exit 1
  t=$(ls -1t "$d" 2>&1) || { printf '%s\n' "$t" >&2; exit 1; }
  for i in $t; do
    printf 'transaction %s\n' "$i"
    if [ -e "$d/$i/result.json" ]; then cat "$d/$i/result.json" || exit 1; echo
    elif [ ! -x "$d/$i" ]; then echo "$d/$i: Permission denied" >&2; exit 1; fi
    break
  done
fi
echo 'end '
"""
_OWNED_GIVES = ("gpuprov.owned", "gpuprov.pending")
_RUNNING = frozenset({"running", "start", "start-pre", "start-post", "stop", "stop-sigterm", "reload"})
_PREFIX = "gpuprov-transaction-"
_TURN = "turn taken"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def parse_owned(output: CollectorOutput, recording: Recording) -> Found:
    """gpuprov.owned: the record, or Absent on a host that gpuprov did not touch.

    Its key `brought` lists the packages that were not there before gpuprov came: only these are ever removed. Its key
    `kept` lists the files of which what was there before is kept: it comes back when ours goes. Its key `merged` holds
    what gpuprov put into files of others; `access` the accounts that it made, `tuning` what settings were before.
    gpuprov.pending: the steps that a lost run left undone.
    """
    if "No such file" in output.stderr or "Not a directory" in output.stderr:
        return dict.fromkeys(_OWNED_GIVES, Absent())
    if output.status != 0:
        return dict.fromkeys(_OWNED_GIVES, failure(output, recording, "reading owned.json"))
    head, mark_kept, kept = output.stdout.partition("\nkept \n")
    head, mark_pending, pending = head.partition("\npending ")
    head, _, tuning = head.partition("\ntuning ")
    head, _, access = head.partition("\naccess ")
    head, mark_merged, merged = head.partition("\nmerged ")
    record, mark, brought = head.partition("\nbrought ")
    value, names, keys = _json(record), _json(brought) if mark else [], _json(merged) if mark_merged else {}
    paths = [line.removeprefix(".") for line in kept.splitlines()]
    own = {name: _json(text) for name, text in (("access", access), ("tuning", tuning)) if text}
    known = (
        isinstance(value, dict) and isinstance(names, list) and all(isinstance(v, dict) for v in (keys, *own.values()))
    )
    if not known or not all(path.startswith("/") for path in paths):
        return dict.fromkeys(_OWNED_GIVES, odd(output, "owned.json"))
    more = ({"brought": names} if mark else {}) | ({"kept": sorted(paths)} if mark_kept else {})
    more |= ({"merged": keys} if keys else {}) | own
    return {
        "gpuprov.owned": Known(value | more),
        "gpuprov.pending": Known([*pending.split()]) if mark_pending else Absent(),
    }


def parse_proven(output: CollectorOutput, recording: Recording) -> Found:
    """gpuprov.proven: digest of the want that the last proof succeeded for, or Absent."""
    if "No such file" in output.stderr or "Not a directory" in output.stderr:
        return {"gpuprov.proven": Absent()}
    if output.status != 0:
        return {"gpuprov.proven": failure(output, recording, "reading the last proof")}
    text = output.stdout.strip()
    return {"gpuprov.proven": Known(text) if _DIGEST.fullmatch(text) else odd(output, "the last proof")}


def _json(text: str) -> Any:
    """The value of a JSON text that fits a fact; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if _fits(value, 8) else None


def _fits(value: object, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, dict):
        return all(_fits(v, depth - 1) for v in value.values())
    if isinstance(value, list):
        return all(_fits(v, depth - 1) for v in value)
    return isinstance(value, str | int | bool)


def parse_transaction(output: CollectorOutput, recording: Recording) -> Found:
    """gpuprov.transaction: the one that runs, else the newest.

    Its state is `running`, `done` (with the exit status that its unit wrote), or `interrupted`: it neither runs nor
    wrote how it ended, as after a power cut.
    """
    if output.status != 0 or not output.stdout.endswith("end \n"):
        return {"gpuprov.transaction": failure(output, recording, "looking for transactions")}
    head, mark, tail = output.stdout.removesuffix("end \n").partition("transaction ")
    units = [dict(line.partition("=")[::2] for line in block.splitlines()) for block in head.split("\n\n")]
    if any(_TURN in unit for unit in units):
        return {"gpuprov.transaction": Known({"unit": "", "state": "running"})}
    for unit in units:
        if unit.get("LoadState") == "loaded" and unit.get("SubState") in _RUNNING:
            running: dict[str, Value] = {"unit": unit.get("Id", ""), "state": "running"}
            return {"gpuprov.transaction": Known(running)}
    return {"gpuprov.transaction": _newest(tail, output) if mark else Absent()}


def _newest(text: str, output: CollectorOutput) -> Observation:
    identity, _, result = text.partition("\n")
    if not re.fullmatch(r"[0-9a-zA-Z_-]+", identity):
        return odd(output, "the list of transactions")
    unit_name = f"{_PREFIX}{identity}.service"
    if not result.strip():
        return Known({"unit": unit_name, "state": "interrupted"})
    value = _json(result)
    if not isinstance(value, dict) or not isinstance(value.get("status"), int):
        return Unknown(f"the result of transaction {identity} has an unknown form")
    return Known({"unit": unit_name, "state": "done", "status": int(value["status"])})


COLLECTORS = (
    Collector(name="owned", command=fixed(_OWNED), gives=_OWNED_GIVES, parse=parse_owned, limit=0),
    Collector(name="proven", command=fixed(_PROVEN), gives=("gpuprov.proven",), parse=parse_proven, limit=0),
    Collector(name="transaction", command=fixed(_TRANSACTION), gives=("gpuprov.transaction",), parse=parse_transaction),
)
