"""Who may use a host: users, groups, keys and rules of sudo, as values and as files of gpuprov's own."""

import re
from dataclasses import asdict, replace
from typing import Final

from gpuprov.document.canonical import digest
from gpuprov.spec.access import AccessSpec, GroupSpec
from gpuprov.want.files import MARKER
from gpuprov.want.types import AccessWant, FileWant, GroupWant, PoolWant, UserWant

KEYS_FOLDER: Final = "/etc/ssh/gpuprov/"
"""A file of keys for each user; root's own, so that only the spec decides what stands in it."""
KEYS_PATTERN: Final = f"{KEYS_FOLDER}%u"
"""What sshd's AuthorizedKeysFile must name besides the places that it names already."""
SSHD_PATH: Final = "/etc/ssh/sshd_config.d/00-gpuprov.conf"
"""Names that place for sshd. Its text depends on what the host's sshd names already; sshd takes the first it reads."""
SUDO_PREFIX: Final = "/etc/sudoers.d/gpuprov-"
_VISUDO: Final = "visudo -c -q -f %s"


def access_want(access: AccessSpec) -> AccessWant:
    """The users and groups of a spec, sorted; a user of two groups is one user."""
    users: dict[str, UserWant] = {}
    for group in access.groups.values():
        for member in group.members:
            before = users.get(member.name)
            uid = member.uid if before is None or member.uid is not None else before.uid
            users[member.name] = UserWant(name=member.name, uid=uid)
    return AccessWant(
        users=tuple(users[name] for name in sorted(users)),
        groups=tuple(_group(name, access.groups[name]) for name in sorted(access.groups)),
        keys=any(member.keys for group in access.groups.values() for member in group.members),
    )


def _group(name: str, group: GroupSpec) -> GroupWant:
    return GroupWant(name=name, gid=group.gid, members=tuple(sorted({member.name for member in group.members})))


def access_files(access: AccessSpec) -> tuple[FileWant, ...]:
    """The users' keys and the groups' rules of sudo, as files that are gpuprov's as a whole."""
    keys: dict[str, dict[str, None]] = {}
    for group in access.groups.values():
        for member in group.members:
            if member.keys:
                keys.setdefault(member.name, {}).update(dict.fromkeys(key.strip() for key in member.keys))
    files = [
        FileWant(path=f"{KEYS_FOLDER}{name}", text="\n".join([MARKER, *lines, ""])) for name, lines in keys.items()
    ]
    for name, group in access.groups.items():
        what = "ALL" if group.sudo.all else ", ".join(_command(text) for text in group.sudo.commands)
        if what:
            text = f"{MARKER}\n%{name} ALL=({'ALL:ALL' if group.sudo.all else 'root'}) NOPASSWD: {what}\n"
            files.append(FileWant(path=f"{SUDO_PREFIX}{name}", text=text, mode="0440", validate=_VISUDO))
    return tuple(files)


def is_access_file(path: str) -> bool:
    """Whether a path is one of keys or of rules of sudo."""
    return path.startswith((KEYS_FOLDER, SUDO_PREFIX))


def with_access_of(pool: PoolWant, now: PoolWant) -> PoolWant:
    """A want with the users, keys and rules of another one.

    Going back to earlier software must not bring back who has been taken out since.

    Args:
        pool: the want.
        now: the want that says who may use the host.
    """
    files = [file for file in pool.files if not is_access_file(file.path)]
    files += [file for file in now.files if is_access_file(file.path)]
    ordered = tuple(sorted(files, key=lambda file: file.path))
    if (ordered, now.access) == (tuple(sorted(pool.files, key=lambda file: file.path)), pool.access):
        return pool
    changed = replace(pool, files=ordered, access=now.access, digest="")
    return replace(changed, digest=digest(asdict(changed)))


def _command(text: str) -> str:
    """A command as sudoers(5) reads it: what means something there is escaped."""
    return re.sub(r"([,:=#])", r"\\\1", text)
