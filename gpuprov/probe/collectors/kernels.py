"""Kernels that are installed, and the one that the next boot takes: what GRUB's menu says."""

import re
from dataclasses import dataclass, field

from gpuprov.model.fact import Absent, Known, Observation, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import MAY_ENTER, Collector, Found, ended, failure, fixed, sections_of

GIVES = ("host.kernel.installed", "host.kernel.next", "host.kernel.options", "host.reboot_required")

# Of GRUB's file only what decides travels: titles, kernels, the default.
_COMMAND = (
    MAY_ENTER
    + r"""
[ ! -d /boot ] || may_enter /boot
for f in /boot/vmlinuz-* /boot/vmlinux-*; do [ -e "$f" ] && echo "image ${f##*/}"; done
read -r o </proc/cmdline; printf 'options %s\n' "$o"
if [ -e /run/reboot-required ]; then
  echo 'reboot '
  [ ! -e /run/reboot-required.pkgs ] || sort -u /run/reboot-required.pkgs
  echo 'asked '
fi
for g in /boot/grub /boot/grub2; do
  [ -d "$g" ] || continue
  may_enter "$g"
  [ -e "$g/grub.cfg" ] || continue
  printf 'grub %s\n' "$g/grub.cfg"
  sed -E \
    -e '/^[[:space:]]*(menuentry|submenu|linux(16|efi)?|set default=|blscfg)/!{/\{[[:space:]]*$|^[[:space:]]*\}/!d;}' \
    "$g/grub.cfg" || exit 1
  [ ! -e "$g/grubenv" ] || sed -n -E 's/^((saved|next)_entry=.*)/env \1/p' "$g/grubenv" || exit 1
  break
done
echo end
"""
)
_DEFAULT = re.compile(r"""set default=["']?(?P<entry>[^"']*)["']?""")
_TITLE = re.compile(r"""(?:menuentry|submenu)\s+(?:'(?P<one>[^']*)'|"(?P<two>[^"]*)")(?P<rest>.*)""")
_IDENTITY = re.compile(r"""(?:\$menuentry_id_option|--id)\s+['"]?([^'"\s{]+)""")
_IMAGE = re.compile(r"vmlinu[xz]-(.+)")
_PLACE = re.compile(r"(?:BOOT_IMAGE|initrd|root|resume|cryptdevice|rd\.luks\.uuid|rd\.lvm\.lv)=.*")
"""Options that name this host's own disks: no two hosts have them alike."""


@dataclass(kw_only=True, slots=True)
class _Entry:
    """One entry of the menu, or a submenu."""

    title: str = ""
    identity: str = ""
    kernel: str = ""
    entries: "list[_Entry]" = field(default_factory=list)


def parse_kernels(output: CollectorOutput, recording: Recording) -> Found:
    """Installed kernels, the next boot's, this boot's options, and whether a package asked for a reboot."""
    if not ended(output):
        return dict.fromkeys(GIVES, failure(output, recording, "reading /boot"))
    lines = output.stdout.split("\n")
    images = sorted({found[1] for line in lines if line.startswith("image ") and (found := _IMAGE.fullmatch(line[6:]))})
    options = next((line.removeprefix("options ") for line in lines if line.startswith("options ")), None)
    grub = sections_of(output.stdout, "grub")
    return {
        "host.kernel.installed": Known([*images]) if images else Absent(),
        "host.kernel.next": _next(grub[0][1]) if grub else _without_grub(images),
        "host.kernel.options": Unknown("/proc/cmdline was not read")
        if options is None
        else Known([o for o in options.split() if not _PLACE.fullmatch(o)]),
        "host.reboot_required": _reboot(lines),
    }


def _reboot(lines: list[str]) -> Observation:
    """The packages that asked (update-notifier-common, unattended-upgrades); they only ever say yes."""
    if "reboot " not in lines:
        return Absent()
    begin = lines.index("reboot ") + 1
    names = lines[begin : lines.index("asked ", begin)] if "asked " in lines[begin:] else []
    return Known([*names])


def _without_grub(images: list[str]) -> Observation:
    if not images:
        return Absent()  # The kernel comes from outside: a container, a boot over the network.
    return Unknown("there is no GRUB menu; another boot loader chooses the kernel")


def _next(lines: list[str]) -> Observation:
    if any(line.strip() == "blscfg" for line in lines):
        return Unknown("GRUB's entries are in /boot/loader/entries, which gpuprov does not read")
    wanted = _default(lines)
    found = _pick(_menu(lines), wanted)
    if found is None:
        return Unknown(f"GRUB's menu has no entry {wanted!r}")
    image = _IMAGE.fullmatch(found.kernel.rpartition("/")[2])
    if image is None:
        return Unknown(f"the entry {found.title!r} of GRUB's menu names no release: {found.kernel or 'no kernel'}")
    return Known(image[1])


def _default(lines: list[str]) -> str:
    """The entry that is booted: the one for the next boot alone, else the default (grub-mkconfig's own logic)."""
    env = dict(line.removeprefix("env ").partition("=")[::2] for line in lines if line.startswith("env "))
    if env.get("next_entry"):
        return env["next_entry"]
    written = [found["entry"] for line in lines if (found := _DEFAULT.fullmatch(line.strip()))]
    entry = next((e for e in reversed(written) if "next_entry" not in e), "0")
    return (env.get("saved_entry") or "0") if "saved_entry" in entry else entry


def _menu(lines: list[str]) -> list[_Entry]:
    root = _Entry()
    open_entries = [root]
    for raw in lines:
        line = raw.strip()
        if line == "}":
            if len(open_entries) > 1:
                open_entries.pop()
        elif found := _TITLE.match(line):
            identity = _IDENTITY.search(found["rest"])
            entry = _Entry(title=found["one"] or found["two"] or "", identity=identity[1] if identity else "")
            open_entries[-1].entries.append(entry)
            if line.endswith("{"):
                open_entries.append(entry)
        elif line.startswith("linux") and not open_entries[-1].kernel:
            open_entries[-1].kernel = [*line.split(), ""][1]
        elif line.endswith("{"):
            open_entries.append(_Entry())  # a function: its brace closes too
    return root.entries


def _pick(entries: list[_Entry], wanted: str) -> _Entry | None:
    """The entry at `1>2`, by number, title or id; GRUB takes the first of a submenu that is named alone."""
    found: _Entry | None = None
    for part in wanted.split(">"):
        if part.isascii() and part.isdigit() and len(part) <= 4:  # noqa: PLR2004 - no menu is longer
            found = entries[int(part)] if int(part) < len(entries) else None
        else:
            found = next((e for e in entries if part in {e.title, e.identity}), None)
        if found is None:
            return None
        entries = found.entries
    while found is not None and found.entries:
        found = found.entries[0]
    return found


COLLECTORS = (Collector(name="kernels", command=fixed(_COMMAND), gives=GIVES, parse=parse_kernels),)
