"""Maintainer scripts of the stand-in packages: services, the kernel module, the library cache."""

from collections.abc import Mapping
from typing import Any

_HEAD = "#!/bin/sh\nset -e\n"
_RELOAD = "[ ! -d /run/systemd/system ] || systemctl --system daemon-reload >/dev/null || true"
_ENABLE_AND_START = """\
if [ "$1" = configure ]; then
  deb-systemd-helper unmask {unit} >/dev/null || true
  if deb-systemd-helper --quiet was-enabled {unit}; then
    deb-systemd-helper enable {unit} >/dev/null || true
  else
    deb-systemd-helper update-state {unit} >/dev/null || true
  fi
  {reload}
  if [ -d /run/systemd/system ]; then
    if [ -n "$2" ]; then deb-systemd-invoke restart {unit} >/dev/null || true
    else deb-systemd-invoke start {unit} >/dev/null || true; fi
  fi
fi
"""
_LEAVE_TO_ADMINISTRATOR = """\
if [ "$1" = configure ]; then
  {reload}
  [ ! -d /run/systemd/system ] || systemctl try-restart {unit} >/dev/null 2>&1 || true
fi
"""
_STOP = """\
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then deb-systemd-invoke stop {unit} >/dev/null || true; fi
"""
_FORGET = """\
{reload}
if [ "$1" = purge ]; then deb-systemd-helper purge {unit} >/dev/null || true; fi
"""
_MODULE = {
    "postinst": 'if [ "$1" = configure ]; then /usr/src/nvidia-@id@/install-module install; fi\n',
    "prerm": 'case "$1" in remove|upgrade|deconfigure) /usr/src/nvidia-@id@/install-module remove;; esac\n',
}
_LDCONFIG = {
    "postinst": 'if [ "$1" = configure ]; then ldconfig; fi\n',
    "postrm": 'if [ "$1" = remove ]; then ldconfig; fi\n',
}


def maintainer_scripts(template: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, str]:
    """Gives a package's scripts by name, from `module`, `services`, `ldconfig` and `scripts` of its description.

    `services` says for each unit: `start` (the vendor's package enables and starts it) or `none` (that is left to the
    administrator; an upgrade restarts it when it runs).
    """
    parts: dict[str, str] = {}

    def add(snippets: Mapping[str, str]) -> None:
        for name, text in snippets.items():
            parts[name] = parts.get(name, "") + text

    if template.get("ldconfig"):
        add(_LDCONFIG)
    if "module" in template:
        add(_MODULE)
    for unit, action in template.get("services", {}).items():
        start = {"start": _ENABLE_AND_START, "none": _LEAVE_TO_ADMINISTRATOR}[action]
        snippets = {"postinst": start, "prerm": _STOP, "postrm": _FORGET}
        add({name: text.format(unit=unit, reload=_RELOAD) for name, text in snippets.items()})
    add(template.get("scripts", {}))
    filled = {name: _fill(text, values) for name, text in parts.items()}
    return {name: _HEAD + text + "exit 0\n" for name, text in filled.items()}


def _fill(text: str, values: Mapping[str, str]) -> str:
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
