#!/usr/bin/python
"""Make the initramfs anew after module settings changed, and say so."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_initramfs
short_description: Make the initramfs anew
description:
  - Runs update-initramfs where the host has it, and takes the mark away that asked for it.
options:
  pending: {description: The mark of gpuprov_files that asks for it., type: str, required: true}
  program: {description: The program that makes it., type: str, default: /usr/sbin/update-initramfs}
author: [gpuprov]
"""

RETURN = r"""
notes: {description: One sentence about what was made, type: list, returned: success}
"""

import re  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

_MADE = re.compile(r"^update-initramfs: Generating (?P<path>\S+)", re.MULTILINE)
NOTHING = ("does not exist. Cannot update", "not updating initramfs")
"""Texts of update-initramfs, which then ends with status 0, on a host that has no initramfs (a container)."""


def note(text: str) -> str:
    """Say what update-initramfs made; empty where it made nothing."""
    if any(words in text for words in NOTHING):
        return ""
    made = ", ".join(found["path"] for found in _MADE.finditer(text))
    return f"the initramfs was made anew, as module settings changed{': ' + made if made else ''}"


def main() -> None:
    """Run as an Ansible module."""
    module = AnsibleModule(
        argument_spec={
            "pending": {"type": "str", "required": True},
            "program": {"type": "str", "default": "/usr/sbin/update-initramfs"},
        },
        supports_check_mode=True,
    )
    program, pending = module.params["program"], Path(module.params["pending"])
    present = Path(program).exists()
    if module.check_mode:
        foreseen = ["the initramfs is made anew, as module settings change"] if present else []
        module.exit_json(changed=present, notes=foreseen)
    said = ""
    if present:
        code, out, err = module.run_command([program, "-u"], environ_update={"LC_ALL": "C.UTF-8", "LANGUAGE": ""})
        if code:
            text = f"update-initramfs ended with status {code}"
            detail = (out + err).strip()[-2000:]
            module.fail_json(msg=text, gpuprov={"reason": "initramfs", "text": text, "detail": detail})
        said = note(out + err)
    pending.unlink(missing_ok=True)
    module.exit_json(changed=bool(said), notes=[said] if said else [])


if __name__ == "__main__":
    main()
