"""Accounts of people, groups with members, and sudo's rules. No password, no name in full, no key travels."""

import re

from gpuprov.model.address import member_address
from gpuprov.model.fact import Absent, Known, Observation, Unknown, Value
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import MAY_ENTER, Collector, Found, ended, failure, fixed, sections_of, unknown

USER_GIVES = (
    "user[*].uid",
    "user[*].groups",
    "user[*].shell",
    "user[*].state",
    "group[*].gid",
    "group[*].members",
    "host.accounts",
)

# The files themselves: `getent` would ask a directory service for everybody it knows. A line `passwd: files` would be
# taken for a password.
_ACCOUNTS = r"""
echo 'people '; cut -d: -f1,3,4,7 /etc/passwd || exit 1
echo 'groups '; cut -d: -f1,3,4 /etc/group || exit 1
f=
for n in /etc/login.defs /etc/nsswitch.conf; do [ -e "$n" ] && f="$f $n"; done
echo 'rules '
[ -z "$f" ] ||
  sed -n -E -e '/^[[:space:]]*[UG]ID_(MIN|MAX)[[:space:]]/p' -e 's/^[[:space:]]*passwd:/names /p' $f || exit 1
echo 'expired '
if [ -r /etc/shadow ]; then
  echo "today $(($(date +%s) / 86400))"
  cut -d: -f1,8 /etc/shadow | sed '/:$/d'
fi
echo end
"""
_PERSON = re.compile(r"([^:]+):(\d{1,10}):(\d{1,10}):([^:]*)")
_GROUP = re.compile(r"([^:]+):(\d{1,10}):([^:]*)")
_KINDS = ("people", "groups", "rules", "expired")
_PEOPLE = (1000, 60000)
"""UID_MIN and UID_MAX of login.defs(5) where the file does not say."""

# `NOPASSWD:` is a rule's tag and no password: it is spared from the replacement of secrets.
_SUDO = (
    MAY_ENTER
    + r"""
[ -e /etc/sudoers ] || [ -e /etc/sudoers.d ] || { echo none; exit 0; }
[ ! -d /etc/sudoers.d ] || may_enter /etc/sudoers.d
for f in /etc/sudoers /etc/sudoers.d/*; do
  [ -f "$f" ] || continue
  case ${f#/etc/sudoers.d/} in */*) ;; *.*|*~) continue ;; esac
  printf 'sudoers %s\n' "$f"
  sed -E -e 's/(NO)?PASSWD[[:space:]]*:/\1PW:/g' "$f" || exit 1
  echo
done
echo end
"""
)


def parse_accounts(output: CollectorOutput, recording: Recording) -> Found:
    """Local accounts: root and those in the range for people (login.defs); groups that have members or are people's.

    `host.accounts` says where names come from besides these files (`passwd:` of nsswitch.conf).
    """
    if not ended(output):
        return unknown(USER_GIVES, failure(output, recording, "reading accounts").reason)
    text = output.stdout.removesuffix("end\n")
    parts = {kind: _section(text, kind) for kind in _KINDS}
    people, groups = _rows(_PERSON, parts["people"]), _rows(_GROUP, parts["groups"])
    if not people or groups is None:
        return unknown(USER_GIVES, "/etc/passwd or /etc/group has a line of an unknown form")
    low, high = _range(parts["rules"])
    found: Found = {"user[*]": Absent(), "group[*]": Absent(), "host.accounts": _switch(parts["rules"])}
    names = {gid: name for name, gid, _ in reversed(groups)}
    for name, uid, gid, shell in people:
        if int(uid) == 0 or low <= int(uid) <= high:
            member_of = {group for group, _, members in groups if name in members.split(",")}
            found |= _user(name, int(uid), {names.get(gid, gid), *member_of}, shell)
            found[member_address("user", name, "state")] = _state(name, parts["expired"])
    for name, gid, members in groups:
        if members or int(gid) == 0 or low <= int(gid) <= high:
            found[member_address("group", name, "gid")] = Known(int(gid))
            found[member_address("group", name, "members")] = Known([*sorted({m for m in members.split(",") if m})])
    return found


def _section(text: str, kind: str) -> list[str]:
    """The lines after the line `KIND ` up to the next such line."""
    after = f"\n{text}".partition(f"\n{kind} \n")[2]
    lines: list[str] = []
    for line in after.split("\n"):
        if line.removesuffix(" ") in _KINDS and line.endswith(" "):
            break
        lines.append(line)
    return lines


def _rows(form: re.Pattern[str], lines: list[str]) -> list[tuple[str, ...]] | None:
    """The rows; None when a line is none, but for NIS's own (`+`) and comments."""
    found = [form.fullmatch(line) for line in lines if line and line[0] not in "+-#"]
    return [tuple(row.groups()) for row in found if row is not None] if all(found) else None


def _range(lines: list[str]) -> tuple[int, int]:
    limits = dict(zip(("UID_MIN", "UID_MAX"), _PEOPLE, strict=True))
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[0] in limits and re.fullmatch(r"\d{1,10}", words[1]):
            limits[words[0]] = int(words[1])
    return limits["UID_MIN"], limits["UID_MAX"]


def _user(name: str, uid: int, groups: set[str], shell: str) -> Found:
    return {
        member_address("user", name, "uid"): Known(uid),
        member_address("user", name, "groups"): Known([*sorted(groups)]),
        member_address("user", name, "shell"): Known(shell or "/bin/sh"),
    }


def _state(name: str, lines: list[str]) -> Observation:
    """`locked` is an account that has expired (shadow(5)): no way of logging in is open, a key neither."""
    days = {key: day for key, _, day in (re.split("([: ])", line, maxsplit=1) for line in lines if line)}
    if not days.get("today", "").isdigit():
        return Unknown("needs root: /etc/shadow says which accounts have expired")
    day = days.get(name, "")
    return Known("locked" if day.isdigit() and int(day) <= int(days["today"]) else "active")


def _switch(lines: list[str]) -> Observation:
    line = next((line for line in lines if line.startswith("names ")), "")
    words = line.removeprefix("names ").split("#")[0].split()
    return Known([*words]) if words else Absent()


def parse_sudo(output: CollectorOutput, recording: Recording) -> Found:
    """host.sudo: every line that counts, in one spelling, sorted; a file with `.` or `~` in its name does not count."""
    if output.stdout == "none\n" and output.status == 0:
        return {"host.sudo": Absent()}
    if not ended(output):
        return {"host.sudo": failure(output, recording, "reading sudo's rules")}
    rules: set[str] = set()
    for _, lines in sections_of(output.stdout.removesuffix("end\n"), "sudoers"):
        rules |= _rules("\n".join(lines))
    ordered: list[Value] = [*sorted(rules)]
    return {"host.sudo": Known(ordered) if ordered else Unknown("/etc/sudoers holds no rule")}


def _rules(text: str) -> set[str]:
    rules = set()
    for line in text.replace("\\\n", " ").split("\n"):
        # `#include` and `#1000` are no comments (sudoers(5)).
        rule = re.sub(r"(^|\s)#(?!include|\d).*$", "", line).strip()
        if rule and not re.match(r"[@#]include(dir)?\s+/etc/sudoers\.d/?$", rule):
            rules.add(re.sub(r"\s+", " ", rule).replace("PW:", "PASSWD:"))
    return rules


COLLECTORS = (
    Collector(name="accounts", command=fixed(_ACCOUNTS), gives=USER_GIVES, parse=parse_accounts, limit=0),
    Collector(name="sudo", command=fixed(_SUDO), gives=("host.sudo",), parse=parse_sudo, limit=0),
)
