"""Changes of accounts: users made, opened and locked, members that come and go, and where sshd looks for keys."""

from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known, Value
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.want.access import SSHD_PATH
from gpuprov.want.settled import SSH_KEYS


def cure_access(scene: Scene, cure: Cure) -> None:
    """Add the changes of users and groups; what has another number is told, for its files belong to that."""
    for name, leaves in scene.members("user"):
        _user(name, leaves, cure)
    for name, leaves in scene.members("group"):
        _group(name, leaves, cure)
    finding = scene.at(SSH_KEYS)
    if finding is not None:
        _ssh(finding, cure)


def _user(name: str, leaves: dict[str, Finding], cure: Cure) -> None:
    state = leaves.get("state")
    made = state is not None and state.kind is FindingKind.MISSING
    cure.leave(f for leaf, f in leaves.items() if not (made or leaf == "state") or f.kind is FindingKind.UNKNOWN)
    if state is None or state.kind is FindingKind.UNKNOWN:
        return
    if made:
        cure.changes.append(_change(state, Action.ADD, name, "", "a user"))
    else:
        locks = state.expected == Known("locked")
        cure.changes.append(
            _change(
                state, Action.LOCK if locks else Action.UNLOCK, name, text_of(state.observed), text_of(state.expected)
            )
        )


def _group(name: str, leaves: dict[str, Finding], cure: Cure) -> None:
    members = leaves.get("members")
    made = members is not None and members.kind is FindingKind.MISSING
    cure.leave(f for leaf, f in leaves.items() if not (made or leaf == "members") or f.kind is FindingKind.UNKNOWN)
    if members is None or members.kind is FindingKind.UNKNOWN:
        return
    if made:
        cure.changes.append(_change(members, Action.ADD, name, "", "a group"))
    there = set(_names(members.observed.value)) if isinstance(members.observed, Known) else set()
    has, lacks = _asked(members)
    cure.changes.extend(_change(members, Action.JOIN, who, "", f"in {name}") for who in has if who not in there)
    cure.changes.extend(_change(members, Action.LEAVE, who, f"in {name}", "") for who in lacks if who in there)


def _asked(finding: Finding) -> tuple[list[str], list[str]]:
    """Who must be in the group, and who must not."""
    value = finding.expected.value if isinstance(finding.expected, Known) else []
    if isinstance(value, dict):
        return _names(value.get("has", [])), _names(value.get("lacks", []))
    return [], _names(value)


def _names(value: Value) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []


def _ssh(finding: Finding, cure: Cure) -> None:
    if finding.kind is FindingKind.UNKNOWN or isinstance(finding.observed, Absent):
        cure.leave([finding])
        return
    now = _names(finding.observed.value) if isinstance(finding.observed, Known) else []
    (ours,) = _names(finding.expected.value) if isinstance(finding.expected, Known) else [""]
    goes = ours in now
    after = [place for place in now if place != ours] if goes else [*now, ours]
    action = Action.DELETE if goes else Action.WRITE
    cure.changes.append(_change(finding, action, SSHD_PATH, " ".join(now), " ".join(after)))


def _change(finding: Finding, action: Action, subject: str, before: str, after: str) -> Change:
    return Change(
        address=finding.address,
        action=action,
        subject=subject,
        before=before,
        after=after,
        reason=finding.origin,
        cost=Cost.NOTHING,
    )
