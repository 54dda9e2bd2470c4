"""Changes of files: write ours, merge our keys into shared ones, delete what nobody wants any more."""

import difflib
import hashlib
from typing import Final

from gpuprov.compare.comparators import compare_contains
from gpuprov.model.address import member_address
from gpuprov.model.change import Action, Change
from gpuprov.model.facet import Cost
from gpuprov.model.fact import Absent, Known
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.plan.cure import Cure, Scene, text_of
from gpuprov.want.files import NOUVEAU_PATH, PINS_PATH, merge_json
from gpuprov.want.kernel import KERNEL_PATH
from gpuprov.want.merged import without_ours
from gpuprov.want.types import FileWant, Merge, PoolWant
from gpuprov.want.updates import UPDATES_PATH

BEFORE: Final = "what was there before gpuprov"
"""What a file becomes again that gpuprov replaced and that leaves the spec."""
_SHORT: Final = 12
_KEYS: Final = "/etc/apt/keyrings/"
_WHY: Final = (
    (_KEYS, "lock: the key that signs the source"),
    ("/etc/apt/sources.list.d/gpuprov-", "lock: packages come from this source"),
    (PINS_PATH, "lock: pins every owned package"),
    (UPDATES_PATH, "lock: unattended upgrades keep off owned packages"),
    (KERNEL_PATH, "lock: GRUB boots the locked kernel"),
    (NOUVEAU_PATH, "lock: the driver needs the GPUs that nouveau would take"),
)
"""Why gpuprov writes files that no spec names, by path or beginning of path."""


def cure_files(scene: Scene, cure: Cure) -> None:
    """Add the changes that write and delete files, sources and keys among them."""
    wanted = wanted_files(scene.want.pool)
    for path, leaves in scene.members("file"):
        known = {leaf: finding for leaf, finding in leaves.items() if finding.kind is not FindingKind.UNKNOWN}
        content = leaves.get("sha256") or leaves.get("text")
        if not known or (content is not None and content.kind is FindingKind.UNKNOWN):
            cure.leave(leaves.values())
        elif path in wanted:
            _write(scene, cure, wanted[path], known)
        elif path in scene.owned.merged and "text" in known:
            _take_back(scene, cure, path, known["text"])
        else:
            cure.changes.append(_delete(path, next(iter(known.values())), scene))


def wanted_files(pool: PoolWant) -> dict[str, FileWant]:
    """Every file that a pool wants, by path, with those of its sources."""
    files = {file.path: file for file in pool.files}
    for source in pool.sources:
        files |= {path: FileWant(path=path, text=text) for path, text in source.files}
    return files


def file_right(file: FileWant, scene: Scene) -> bool:
    """Whether a wanted file is seen to hold what is wanted now."""
    if file.merge is Merge.JSON:
        seen = scene.snapshot.observe(member_address("file", file.path, "text"))
        return isinstance(seen, Known) and compare_contains(file.text, seen.value) is True
    digest = hashlib.sha256(file.text.encode()).hexdigest()
    return scene.snapshot.observe(member_address("file", file.path, "sha256")) == Known(digest)


def _write(scene: Scene, cure: Cure, file: FileWant, leaves: dict[str, Finding]) -> None:
    seen = scene.snapshot.observe(member_address("file", file.path, "text"))
    present = seen.value if isinstance(seen, Known) and isinstance(seen.value, str) else None
    after = file.text
    if file.merge is Merge.JSON:
        try:
            after = merge_json(present or "", file.text)
            # Only the layout would differ otherwise, line by line.
            present = merge_json(present or "", "{}") if present is not None else None
        except ValueError:
            # Not ours and not JSON: replacing it would throw away what somebody wrote.
            cure.leave(leaves.values())
            return
    absent = isinstance(seen, Absent)
    first = leaves.get("sha256") or leaves.get("text") or next(iter(leaves.values()))
    cure.changes.append(
        Change(
            address=first.address,
            action=Action.WRITE,
            subject=file.path,
            before="" if absent else _state(leaves, "observed"),
            after=_state(leaves, "expected"),
            reason=_reason(file, first, scene),
            cost=Cost.RESTART if file.restarts else Cost.NOTHING,
            diff="" if _says_nothing(file.path, absent=absent) else _diff(file.path, "" if absent else present, after),
        )
    )


def _take_back(scene: Scene, cure: Cure, path: str, finding: Finding) -> None:
    present = text_of(finding.observed)
    try:
        after = without_ours(present, scene.owned.merged[path])
        present = merge_json(present, "{}")
    except ValueError:
        cure.leave([finding])
        return
    cure.changes.append(
        Change(
            address=finding.address,
            action=Action.TAKE_BACK,
            subject=path,
            before="with our keys",
            after="without our keys",
            reason=scene.why_gone,
            cost=Cost.NOTHING,
            diff=_diff(path, present, after),
        )
    )


def _state(leaves: dict[str, Finding], side: str) -> str:
    parts = []
    for leaf, finding in leaves.items():
        value = text_of(finding.observed if side == "observed" else finding.expected)
        if leaf == "sha256":
            parts.append(value[:_SHORT])
        elif leaf == "text":
            parts.append("without our keys" if side == "observed" else "with our keys")
        else:
            parts.append(value)
    return " ".join(part for part in parts if part)


def _reason(file: FileWant, finding: Finding, scene: Scene) -> str:
    made = scene.owned.files.get(file.path)
    if file.merge is Merge.JSON:
        return "containers reach GPUs through NVIDIA's runtime"
    if made is None:
        why = next((text for prefix, text in _WHY if file.path.startswith(prefix)), "the spec asks for it")
        return why if finding.kind is FindingKind.MISSING else f"{why}; another one is there"
    if finding.expected != Known(made) and finding.address.endswith(".sha256"):
        return "the spec or the lock changed"
    return "deleted by hand" if finding.kind is FindingKind.MISSING else "changed by hand"


def _says_nothing(path: str, *, absent: bool) -> bool:
    """Whether a diff would only repeat: a key is not read by eye, and new pins are the plan's packages once more."""
    return path.startswith(_KEYS) or (absent and path in {PINS_PATH, UPDATES_PATH})


def _diff(path: str, before: str | None, after: str) -> str:
    if before is None or before == after:
        return ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"{path} (now)", f"{path} (wanted)"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _delete(path: str, finding: Finding, scene: Scene) -> Change:
    seen = scene.snapshot.observe(member_address("file", path, "text"))
    present = seen.value if isinstance(seen, Known) and isinstance(seen.value, str) else None
    comes_back = path in scene.owned.kept
    return Change(
        address=finding.address,
        action=Action.DELETE,
        subject=path,
        before=text_of(finding.observed)[:_SHORT],
        after=BEFORE if comes_back else "",
        reason=scene.why_gone,
        cost=Cost.NOTHING,
        # What comes back was not looked at.
        diff="" if comes_back else _diff(path, present, ""),
    )
