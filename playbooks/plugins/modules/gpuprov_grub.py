#!/usr/bin/python
"""Make GRUB's menu anew where its default is not the wanted kernel, and say so."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_grub
short_description: Bring GRUB's menu to the wanted kernel
description:
  - Runs update-grub where the default of the menu that is there is not the wanted kernel, or where it is asked to.
  - Does nothing on a host without GRUB's menu; which kernel is booted there, another boot loader decides.
options:
  release: {description: Kernel that the default must be; empty for any., type: str, default: ""}
  anew: {description: Whether the menu is made anew in any case., type: bool, default: false}
  menu: {description: GRUB's menu., type: str, default: /boot/grub/grub.cfg}
  program: {description: The program that makes it., type: str, default: /usr/sbin/update-grub}
author: [gpuprov]
"""

RETURN = r"""
notes: {description: One sentence about what was made, type: list, returned: success}
"""

import re  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402


def boots(menu: str, release: str) -> bool:
    """Whether the menu's default is a kernel, by the name that grub-mkconfig gives its entry.

    Args:
        menu: text of grub.cfg.
        release: as `uname -r` prints it; empty: any default will do.
    """
    if not release:
        return True
    entry = rf'^\s*set default="(?:[^">]*>)?gnulinux-{re.escape(release)}-advanced-'
    named = f"gnulinux-{release}-advanced-"
    # The default names an entry; that the menu has it is another thing.
    return re.search(entry, menu, re.MULTILINE) is not None and f"'{named}" in menu


def main() -> None:
    """Run as an Ansible module."""
    module = AnsibleModule(
        argument_spec={
            "release": {"type": "str", "default": ""},
            "anew": {"type": "bool", "default": False},
            "menu": {"type": "str", "default": "/boot/grub/grub.cfg"},
            "program": {"type": "str", "default": "/usr/sbin/update-grub"},
        },
        supports_check_mode=True,
    )
    release, program, menu = module.params["release"], Path(module.params["program"]), Path(module.params["menu"])
    if not program.exists() or not menu.exists():
        module.exit_json(changed=False, notes=[])
    if boots(menu.read_text(encoding="utf-8", errors="replace"), release) and not module.params["anew"]:
        module.exit_json(changed=False, notes=[])
    note = f"GRUB boots the kernel {release} by default" if release else "GRUB boots the newest kernel by default"
    if module.check_mode:
        module.exit_json(changed=True, notes=[note])
    code, out, err = module.run_command([str(program)], environ_update={"LC_ALL": "C.UTF-8", "LANGUAGE": ""})
    if code:
        fail(module, f"update-grub ended with status {code}", (out + err).strip()[-2000:])
    if not boots(menu.read_text(encoding="utf-8", errors="replace"), release):
        fail(module, f"GRUB's menu has no entry for the kernel {release}, though its packages are installed", "")
    module.exit_json(changed=True, notes=[note])


def fail(module: AnsibleModule, text: str, detail: str) -> None:
    """End as failed, with what the controller translates."""
    module.fail_json(msg=text, gpuprov={"reason": "grub", "text": text, "detail": detail})


if __name__ == "__main__":
    main()
